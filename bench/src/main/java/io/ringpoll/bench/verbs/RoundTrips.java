package io.ringpoll.bench.verbs;

import io.ringpoll.bench.baseline.BareCalls;
import io.ringpoll.bench.baseline.CVerbsLink;
import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.link.LinkEnd;
import io.ringpoll.bench.link.LinkedPair;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.verbs.RemoteMemory;

/** The time of one signalled operation of {@value #BYTES} bytes from its post to its poll. Used by one thread. */
final class RoundTrips {
    static final int BYTES = 64;
    /** Between two readings of the clock: operations of nanoseconds on the loopback device, of microseconds on others. */
    private static final int OPERATIONS = Device.current().kind() == DeviceKind.LOOPBACK ? 1_000 : 50;

    private final WorkCompletions record = WorkCompletions.allocate(1);
    private final VerbsEnds ends;
    private final RemoteMemory remote;
    private final LinkedPair rpma;
    private final RpmaCompletionQueue rpmaQueue;
    private final CVerbsLink c;

    RoundTrips(final VerbsEnds ends, final LinkedPair rpma, final CVerbsLink c) {
        this.ends = ends;
        this.remote = ends.serverMemory.remote();
        this.rpma = rpma;
        this.rpmaQueue = (RpmaCompletionQueue) rpma.client().connection().completionQueue();
        this.c = c;
    }

    /** A way to post and poll many operations; returns the elapsed nanoseconds. */
    @FunctionalInterface
    private interface Batch {
        long run();
    }

    double verbsNs(final boolean read, final long windowNs) {
        return costNs(read ? this::verbsReads : this::verbsWrites, windowNs);
    }

    double rpmaNs(final boolean read, final long windowNs) {
        return costNs(read ? this::rpmaReads : this::rpmaWrites, windowNs);
    }

    double inCNs(final boolean read, final long windowNs) {
        final Traffic.Operation operation = read ? Traffic.Operation.READ : Traffic.Operation.WRITE;
        return costNs(() -> c.posts(operation, BYTES, OPERATIONS), windowNs);
    }

    /** By bare calls from Java, on the connection of C. */
    double bareNs(final boolean read, final long windowNs) {
        final BareCalls calls = c.prepare(read ? Traffic.Operation.READ : Traffic.Operation.WRITE, BYTES);
        return costNs(() -> calls.run(OPERATIONS), windowNs);
    }

    private static double costNs(final Batch batch, final long windowNs) {
        final long startNs = System.nanoTime();
        long tookNs = 0;
        long batches = 0;
        do {
            tookNs += batch.run();
            batches++;
        } while (System.nanoTime() - startNs < windowNs);
        return tookNs / ((double) batches * OPERATIONS);
    }

    private long verbsWrites() {
        final long startNs = System.nanoTime();
        for (int i = 0; i < OPERATIONS; i++) {
            requirePosted(ends.client.write(remote, 0, ends.clientMemory, 0, BYTES, true, i));
            awaitOne(ends.clientQueue.poll(record, 0, 1), ends.clientQueue);
        }
        return System.nanoTime() - startNs;
    }

    private long verbsReads() {
        final long startNs = System.nanoTime();
        for (int i = 0; i < OPERATIONS; i++) {
            requirePosted(ends.client.read(ends.clientMemory, 0, remote, 0, BYTES, true, i));
            awaitOne(ends.clientQueue.poll(record, 0, 1), ends.clientQueue);
        }
        return System.nanoTime() - startNs;
    }

    private long rpmaWrites() {
        final LinkEnd end = rpma.client();
        final long startNs = System.nanoTime();
        for (int i = 0; i < OPERATIONS; i++) {
            requirePosted(end.connection().write(end.peerMemory(), 0, end.memory(), 0, BYTES, true, i));
            awaitOne(rpmaQueue.poll(record, 0, 1), rpmaQueue);
        }
        return System.nanoTime() - startNs;
    }

    private long rpmaReads() {
        final LinkEnd end = rpma.client();
        final long startNs = System.nanoTime();
        for (int i = 0; i < OPERATIONS; i++) {
            requirePosted(end.connection().read(end.memory(), 0, end.peerMemory(), 0, BYTES, true, i));
            awaitOne(rpmaQueue.poll(record, 0, 1), rpmaQueue);
        }
        return System.nanoTime() - startNs;
    }

    private static void requirePosted(final boolean posted) {
        if (!posted) {
            throw new IllegalStateException("the send queue is full with nothing in flight");
        }
    }

    /** Goes on after a first poll, which on a device with a wire is empty. */
    private void awaitOne(final int first, final CompletionQueue queue) {
        int polled = first;
        while (polled == 0) {
            polled = queue.poll(record, 0, 1);
        }
        if (polled < 0) {
            throw new IllegalStateException(queue.name() + " has failed: " + polled);
        }
    }
}
