package io.ringpoll.verify.torture.connections;

import io.ringpoll.pipeline.WaitMode;
import java.util.SplittableRandom;

/**
 * The drawn configuration of a set of connections.
 *
 * @param window         messages in flight
 * @param maxBytes       maximum length of a message
 * @param maxConnections maximum number of connections
 * @param pollers        number of polling threads
 * @param idle           wait mode of the pollers
 * @param batchLimit     maximum number of completions of a poll
 * @param countersFile   whether the counters are in a file
 * @param ownPeer        whether the scene opens the device, instead of the set
 * @param operations     one-sided operations in flight; 0 for none
 * @param errors         kind of the error handler
 * @param sharedQueue    whether the connections share a completion queue, over verbs
 */
record SetShape(int window, int maxBytes, int maxConnections, int pollers, WaitMode idle, int batchLimit, boolean countersFile,
    boolean ownPeer, int operations, Errors errors, boolean sharedQueue) {
    /** Maximum depth of a completion queue on Soft-RoCE, which has the smallest. */
    private static final int MAX_ENTRIES = 32_767;
    /** Upper bound of a connection's completions, without those of its window and operations. */
    private static final int OTHER_ENTRIES = 40;
    /** Maximum length of the buffers of all connections of a set. */
    private static final int MAX_MEMORY_BYTES = 48 << 20;
    private static final int[] LENGTHS = {16, 63, 64, 65, 200, 1000, 4096, 16_384, 100_000};

    /** Handling of the exceptions of callbacks: without an error handler, with one, with one that throws. */
    enum Errors {
        LOGGED, HANDLED, THROWN_AGAIN
    }

    /** Whether the connections share a completion queue: only if its depth is possible on each device. */
    boolean sharesQueue() {
        return sharedQueue && maxConnections * (3L * window + operations + OTHER_ENTRIES) <= MAX_ENTRIES;
    }

    static SetShape draw(final SplittableRandom random, final int connections, final int pollers) {
        final int window = switch (random.nextInt(4)) {
            case 0 -> 1;
            case 1 -> 2;
            default -> 1 + random.nextInt(connections > 100 ? 8 : 64);
        };
        final int longestBytes = Math.max(16, MAX_MEMORY_BYTES / connections / (2 * window + 8));
        final int maxBytes = Math.min(longestBytes, LENGTHS[random.nextInt(LENGTHS.length)]);
        final int maxConnections = random.nextInt(6) == 0 ? 1 + random.nextInt(connections) : 2 * connections + 100;
        final int operations = random.nextInt(2) * (1 + random.nextInt(SharedMemory.MAX_OPERATIONS));
        return new SetShape(window, maxBytes, maxConnections, pollers,
            WaitMode.values()[random.nextInt(WaitMode.values().length)], 1 + random.nextInt(64), random.nextInt(4) == 0,
            operations > 0 || random.nextInt(4) == 0, operations, Errors.values()[random.nextInt(Errors.values().length)],
            random.nextBoolean());
    }
}
