package io.ringpoll.internal.rc;

import io.ringpoll.verbs.RemoteMemory;

/** Remote memory over verbs: a {@link RemoteMemory}, which has nothing to close. Threads: {@link RcRemoteMemory}. */
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
