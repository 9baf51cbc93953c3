package io.ringpoll.verify.torture.processes;

import java.util.SplittableRandom;

/**
 * The life of a peer's process: its connections, its work and its end; drawn from the seed of the scene by both processes.
 *
 * @param key          of all numbers of its messages
 * @param fate         its end
 * @param peerListens  whether the peer's process listens, and not the survivor
 * @param peerCloses   which process closes first, if it ends in order
 * @param delayMs      work before the end begins, in milliseconds; for an early kill in thousandths of the time of its start
 * @param stopMs       time for which it is stopped, in milliseconds
 * @param stops        number of stops
 * @param connections  number of connections
 * @param maxBytes     longest message
 * @param window       messages that are sent before an acknowledgement
 * @param receives     size of the receive queue
 * @param depth        size of the send queue
 * @param receiveQueue whether receives have a separate completion queue
 * @param shared       whether the completion queues of a connection share a channel
 * @param unsignalled  one in so many requests is signalled
 * @param reading      one in so many requests is a read
 * @param flushing     one in so many requests is a flush
 */
record Life(long key, Fate fate, boolean peerListens, boolean peerCloses, int delayMs, int stopMs, int stops, int connections,
    int maxBytes, int window, int receives, int depth, boolean receiveQueue, boolean shared, int unsignalled, int reading,
    int flushing) {
    private static final int MOST_CONNECTIONS = 4;
    private static final int LEAST_BYTES = 16;
    private static final int BYTES_BITS = 17;
    private static final int WINDOW_BYTES = 4 << 20;
    private static final int MOST_WINDOW = 32;
    private static final int LONGEST_WORK_MS = 1500;
    private static final int LONGEST_STOP_MS = 150;
    private static final int LINE_BYTES = 64;

    /** How the life of a peer's process ends. */
    enum Fate {
        /** By SIGKILL while it starts and connects. */
        KILLED_EARLY,
        /** By SIGKILL in the middle of its work. */
        KILLED,
        /** By SIGKILL while it is stopped. */
        KILLED_STOPPED,
        /** In order, after it was stopped and continued. */
        STOPPED,
        /** In order: all messages have been acknowledged. */
        CLOSED,
        /** The survivor disconnects in the middle of the work. */
        DISCONNECTED,
        /** The survivor disconnects and releases everything while the peer is stopped. */
        DISCONNECTED_STOPPED;

        boolean isKill() {
            return this == KILLED || this == KILLED_EARLY || this == KILLED_STOPPED;
        }

        boolean isStop() {
            return this == KILLED_STOPPED || this == STOPPED || this == DISCONNECTED_STOPPED;
        }
    }

    static Life draw(final SplittableRandom random) {
        final Fate fate = random.nextInt(3) == 0 ? Fate.KILLED : Fate.values()[random.nextInt(Fate.values().length)];
        final int maxBytes = LEAST_BYTES << random.nextInt(BYTES_BITS + 1);
        final int window = Math.clamp(WINDOW_BYTES / maxBytes, 1, 1 + random.nextInt(MOST_WINDOW));
        return new Life(random.nextLong(), fate, random.nextBoolean(), random.nextBoolean(), random.nextInt(LONGEST_WORK_MS),
            random.nextInt(LONGEST_STOP_MS), 1 + random.nextInt(3), 1 + random.nextInt(MOST_CONNECTIONS), maxBytes, window,
            1 + random.nextInt(2 * window), 4 << random.nextInt(5), random.nextBoolean(), random.nextInt(3) == 0,
            1 + random.nextInt(3), 2 + random.nextInt(20), 2 + random.nextInt(40));
    }

    /** The number of one side of a connection: of the survivor or of the peer. */
    long number(final int connection, final boolean ofPeer) {
        return (key ^ 2L * connection ^ (ofPeer ? 1 : 0)) | 1L << 62;
    }

    /** The bytes of a message's memory. */
    int cellBytes() {
        return (maxBytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    }
}
