package io.ringpoll.bench.instructions;

import java.util.Map;

/**
 * The instructions that a thread has executed while it was traced.
 *
 * @param total     their number
 * @param byAddress how often each address was reached
 * @param progress  how far the thread has got meanwhile, in units of its work; 0 if that is not known by a counter
 */
record Steps(long total, Map<Long, Long> byAddress, long progress) {
    Steps {
        byAddress = Map.copyOf(byAddress);
    }

    /** How often the thread has come to an address. */
    long at(final long address) {
        return byAddress.getOrDefault(address, 0L);
    }
}
