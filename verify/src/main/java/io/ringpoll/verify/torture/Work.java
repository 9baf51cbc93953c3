package io.ringpoll.verify.torture;

import io.ringpoll.fault.FaultOperation;
import java.util.SplittableRandom;

/**
 * The operations that one side of a connection posts to its send queue, in order; drawn from the seed of the scene.
 *
 * <p>Immutable.
 */
final class Work {
    static final int MIN_PAYLOAD_BYTES = 8;
    /** At least one in so many is signalled, so that the slots of the send queue are freed. */
    private static final int LONGEST_UNSIGNALLED = 2;

    private static final Kind[] KINDS = Kind.values();

    private final Kind[] kinds;
    private final boolean[] signalled;
    private final int[] lengths;

    /** The kinds of work requests of the send queue. */
    enum Kind {
        WRITE(FaultOperation.WRITE),
        WRITE_WITH_IMMEDIATE(FaultOperation.WRITE_WITH_IMMEDIATE),
        SEND(FaultOperation.SEND),
        SEND_WITH_IMMEDIATE(FaultOperation.SEND),
        READ(FaultOperation.READ),
        /** The flush of librpma: a read that completes after the writes before it. */
        FLUSH(FaultOperation.READ);

        private final FaultOperation counted;

        Kind(final FaultOperation counted) {
            this.counted = counted;
        }

        /** The operation under which a fault plan counts it. */
        FaultOperation counted() {
            return counted;
        }

        /** Whether it consumes a receive of the peer. */
        boolean isMessage() {
            return this == SEND || this == SEND_WITH_IMMEDIATE || this == WRITE_WITH_IMMEDIATE;
        }
    }

    private Work(final int count) {
        kinds = new Kind[count];
        signalled = new boolean[count];
        lengths = new int[count];
    }

    static Work draw(final SplittableRandom random, final Topology topology) {
        final Work work = new Work(topology.operations());
        int unsignalled = 0;
        for (int i = 0; i < work.size(); i++) {
            work.kinds[i] = KINDS[random.nextInt(KINDS.length)];
            work.lengths[i] = random.nextInt(MIN_PAYLOAD_BYTES, topology.maxPayloadBytes() + 1);
            final boolean may = unsignalled < LONGEST_UNSIGNALLED && unsignalled < topology.queueDepth() - 1 &&
                i < work.size() - 1 && work.kinds[i] != Kind.READ;
            work.signalled[i] = !may || random.nextBoolean();
            unsignalled = work.signalled[i] ? 0 : unsignalled + 1;
        }
        return work;
    }

    int size() {
        return kinds.length;
    }

    Kind kind(final int index) {
        return kinds[index];
    }

    /** Whether it completes on success; a failure always completes. */
    boolean isSignalled(final int index) {
        return signalled[index];
    }

    int lengthBytes(final int index) {
        return lengths[index];
    }

    int messages() {
        int count = 0;
        for (final Kind kind : kinds) {
            count += kind.isMessage() ? 1 : 0;
        }
        return count;
    }
}
