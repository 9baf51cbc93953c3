package io.ringpoll.internal.rc;

import io.ringpoll.internal.verbs.MessageReceives;
import io.ringpoll.internal.verbs.MessageSends;
import io.ringpoll.verbs.MemoryRegion;
import io.ringpoll.verbs.QueuePair;

/** The posts of messages to a queue pair of verbs, all in one region. Any thread may post. */
final class VerbsMessages implements MessageSends, MessageReceives {
    private final QueuePair queuePair;
    private final MemoryRegion region;

    VerbsMessages(final QueuePair queuePair, final MemoryRegion region) {
        this.queuePair = queuePair;
        this.region = region;
    }

    @Override
    public boolean post(
        final long offset, final int lengthBytes, final boolean isSignalled, final int immediate, final long workRequestId) {
        return queuePair.sendWithImmediate(lengthBytes == 0 ? null : region, lengthBytes == 0 ? 0 : offset, lengthBytes,
            isSignalled, immediate, workRequestId);
    }

    @Override
    public int post(final long offset, final int lengthBytes, final long workRequestId, final int count) {
        int accepted = 0;
        while (accepted < count && queuePair.receive(
            region, offset + (long) accepted * lengthBytes, lengthBytes, workRequestId + accepted)) {
            accepted++;
        }
        return accepted;
    }
}
