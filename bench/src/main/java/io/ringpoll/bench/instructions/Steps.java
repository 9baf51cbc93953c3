package io.ringpoll.bench.instructions;

import java.util.Map;

/**
 * The instructions of a traced thread.
 *
 * @param total     executed instructions
 * @param byAddress arrivals at each address
 * @param units     units of work that the thread has done by these instructions
 */
record Steps(long total, Map<Long, Long> byAddress, double units) {
    Steps {
        byAddress = Map.copyOf(byAddress);
    }

    /** The arrivals at an address. */
    long at(final long address) {
        return byAddress.getOrDefault(address, 0L);
    }

    /** The same instructions with another number of units. */
    Steps withUnits(final double number) {
        return new Steps(total, byAddress, number);
    }
}
