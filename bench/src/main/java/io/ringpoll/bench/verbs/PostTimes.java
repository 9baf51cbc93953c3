package io.ringpoll.bench.verbs;

import io.ringpoll.verbs.QueuePair;
import io.ringpoll.verbs.ReceiveList;
import io.ringpoll.verbs.RemoteMemory;
import io.ringpoll.verbs.SendFlag;
import io.ringpoll.verbs.SendList;

/**
 * The time of the posts of {@value #LIST} requests of {@value #BYTES} bytes, as one list or singly, without the polls behind
 * them. Used by one thread.
 */
final class PostTimes implements AutoCloseable {
    static final int LIST = 16;
    static final int BYTES = 64;
    private static final int CLOCK_READS = 1_000;

    private final VerbsEnds ends;
    private final RemoteMemory target;
    private final SendList sends = SendList.allocate(LIST, 1);
    private final SendList writes = SendList.allocate(LIST, 1);
    private final ReceiveList receives = ReceiveList.allocate(LIST, 1);

    /** The kind of the posted requests. */
    enum Kind {
        /** Sends. */
        SEND,
        /** Writes. */
        WRITE,
        /** Receives. */
        RECEIVE
    }

    PostTimes(final VerbsEnds ends) {
        this.ends = ends;
        this.target = ends.serverMemory.remote();
        for (int i = 0; i < LIST; i++) {
            // One completion for the list, as a gateway posts.
            final SendFlag[] flags = i == LIST - 1 ? new SendFlag[] {SendFlag.SIGNALED} : new SendFlag[0];
            sends.send(i, flags);
            sends.elements(i, ends.clientMemory);
            sends.element(i, 0, i * BYTES, BYTES);
            writes.write(i, target, flags);
            writes.elements(i, ends.clientMemory);
            writes.element(i, 0, i * BYTES, BYTES);
            writes.remoteOffset(i, i * BYTES);
            receives.elements(i, ends.serverMemory);
            receives.element(i, 0, i * BYTES, BYTES);
        }
    }

    /**
     * Measures posts for a time.
     *
     * @param kind     kind of the requests
     * @param asList   as one list, or singly
     * @param windowNs how long
     * @return nanoseconds of the posts of one request, without those of the clock
     */
    double costNs(final Kind kind, final boolean asList, final long windowNs) {
        final double clockNs = clockNs();
        final long startNs = System.nanoTime();
        long tookNs = 0;
        long lists = 0;
        do {
            tookNs += switch (kind) {
                case SEND -> asList ? sendList() : sendSingly();
                case WRITE -> asList ? writeList() : writeSingly();
                case RECEIVE -> asList ? receiveList() : receiveSingly();
            };
            lists++;
        } while (System.nanoTime() - startNs < windowNs);
        return (tookNs / (double) lists - clockNs) / LIST;
    }

    private static double clockNs() {
        long sumNs = 0;
        for (int i = 0; i < CLOCK_READS; i++) {
            final long beforeNs = System.nanoTime();
            sumNs += System.nanoTime() - beforeNs;
        }
        return sumNs / (double) CLOCK_READS;
    }

    private long sendList() {
        requireAll(ends.server.postReceive(receives));
        final long beforeNs = System.nanoTime();
        final int posted = ends.client.postSend(sends);
        final long tookNs = System.nanoTime() - beforeNs;
        requireAll(posted);
        awaitMessages();
        return tookNs;
    }

    private long sendSingly() {
        requireAll(ends.server.postReceive(receives));
        final QueuePair client = ends.client;
        final long beforeNs = System.nanoTime();
        int posted = 0;
        for (int i = 0; i < LIST; i++) {
            posted += client.send(ends.clientMemory, i * BYTES, BYTES, i == LIST - 1, 0) ? 1 : 0;
        }
        final long tookNs = System.nanoTime() - beforeNs;
        requireAll(posted);
        awaitMessages();
        return tookNs;
    }

    private long writeList() {
        final long beforeNs = System.nanoTime();
        final int posted = ends.client.postSend(writes);
        final long tookNs = System.nanoTime() - beforeNs;
        requireAll(posted);
        ends.await(ends.clientQueue, 1);
        return tookNs;
    }

    private long writeSingly() {
        final QueuePair client = ends.client;
        final long beforeNs = System.nanoTime();
        int posted = 0;
        for (int i = 0; i < LIST; i++) {
            posted += client.write(target, i * BYTES, ends.clientMemory, i * BYTES, BYTES, i == LIST - 1, 0) ? 1 : 0;
        }
        final long tookNs = System.nanoTime() - beforeNs;
        requireAll(posted);
        ends.await(ends.clientQueue, 1);
        return tookNs;
    }

    private long receiveList() {
        final long beforeNs = System.nanoTime();
        final int posted = ends.server.postReceive(receives);
        final long tookNs = System.nanoTime() - beforeNs;
        requireAll(posted);
        requireAll(ends.client.postSend(sends));
        awaitMessages();
        return tookNs;
    }

    private long receiveSingly() {
        final QueuePair server = ends.server;
        final long beforeNs = System.nanoTime();
        int posted = 0;
        for (int i = 0; i < LIST; i++) {
            posted += server.receive(ends.serverMemory, i * BYTES, BYTES, 0) ? 1 : 0;
        }
        final long tookNs = System.nanoTime() - beforeNs;
        requireAll(posted);
        requireAll(ends.client.postSend(sends));
        awaitMessages();
        return tookNs;
    }

    private void awaitMessages() {
        ends.await(ends.serverQueue, LIST);
        ends.await(ends.clientQueue, 1);
    }

    private static void requireAll(final int posted) {
        if (posted != LIST) {
            throw new IllegalStateException("a queue was full after " + posted + " of " + LIST + " requests");
        }
    }

    @Override
    public void close() {
        sends.close();
        writes.close();
        receives.close();
    }
}
