package io.ringpoll.internal.rc;

import io.ringpoll.verbs.RemoteMemory;

/** Remote memory of verbs, which has nothing to close. */
final class VerbsRemoteMemory extends RcRemoteMemory {
    private final RemoteMemory memory;
    private volatile boolean closed;

    VerbsRemoteMemory(final RemoteMemory memory) {
        this.memory = memory;
    }

    static RemoteMemory of(final RcRemoteMemory memory) {
        return memory == null ? null : ((VerbsRemoteMemory) memory).memory;
    }

    @Override
    public long lengthBytes() {
        return memory.lengthBytes();
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void close() {
        // It is three numbers.
        closed = true;
    }
}
