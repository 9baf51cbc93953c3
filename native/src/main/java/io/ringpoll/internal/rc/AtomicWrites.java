package io.ringpoll.internal.rc;

import io.ringpoll.verbs.MemoryRegion;
import io.ringpoll.verbs.ProtectionDomain;
import io.ringpoll.verbs.QueuePair;
import io.ringpoll.verbs.RemoteMemory;
import io.ringpoll.verbs.SendFlag;
import io.ringpoll.verbs.SendList;
import java.lang.foreign.ValueLayout;

/**
 * Posts the atomic writes of one verbs connection in the way of librpma: inline, and fenced, so that each follows all earlier
 * reads. The first write allocates the memory and the request. Thread-safe.
 */
final class AtomicWrites implements AutoCloseable {
    /** Length of a value. Each queue pair accepts at least as many bytes inline. */
    static final int VALUE_BYTES = Long.BYTES;

    private final ProtectionDomain domain;
    private MemoryRegion value;
    private SendList request;
    private boolean closed;

    AtomicWrites(final ProtectionDomain domain) {
        this.domain = domain;
    }

    /** Posts a write; the result is that of {@link RcConnection#atomicWrite}. */
    synchronized boolean post(final QueuePair queuePair, final RemoteMemory target, final long targetOffset, final long bytes,
        final boolean signaled, final long workRequestId) {
        if (targetOffset % VALUE_BYTES != 0) {
            throw new IllegalArgumentException("an atomic write at offset " + targetOffset + ": a multiple of 8 is needed");
        }
        if (targetOffset < 0 || targetOffset > target.lengthBytes() - VALUE_BYTES) {
            throw new IndexOutOfBoundsException(
                "an atomic write at offset " + targetOffset + " of remote memory of " + target.lengthBytes() + " bytes");
        }
        open(queuePair);
        // Inline: the device has copied the value when the post returns.
        value.memory().set(ValueLayout.JAVA_LONG, 0, bytes);
        request.write(0, target, SendFlag.FENCE, SendFlag.INLINE);
        request.signaled(0, signaled);
        request.remoteOffset(0, targetOffset);
        request.workRequestId(0, workRequestId);
        return queuePair.postSend(request, 0, 1) == 1;
    }

    private void open(final QueuePair queuePair) {
        if (closed) {
            throw new IllegalStateException(queuePair.name() + " is closed");
        }
        if (value == null) {
            value = domain.allocate(VALUE_BYTES);
        }
        if (request == null) {
            final SendList made = SendList.allocate(1, 1);
            made.elements(0, value);
            made.element(0, 0, 0, VALUE_BYTES);
            request = made;
        }
    }

    /** Idempotent; nothing is posted afterwards. */
    @Override
    public synchronized void close() {
        closed = true;
        if (request != null) {
            request.close();
        }
        if (value != null) {
            value.close();
        }
    }
}
