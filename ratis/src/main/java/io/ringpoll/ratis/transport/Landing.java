package io.ringpoll.ratis.transport;

import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.RemoteMemoryRegion;

/**
 * A long message on its way from the peer's memory, piece by piece: one RDMA read at a time. Guarded by the lock of its link.
 */
final class Landing {
    /** Devices take 8 MiB at once at least (Soft-RoCE) and up to 2 GiB. */
    static final int MAX_READ_BYTES = 4 << 20;

    private final Incoming frame;
    private final RegionPool.Lease lease;
    private final RemoteMemoryRegion remote;
    private int done;
    private int reading;

    private Landing(final Incoming frame, final RegionPool.Lease lease, final RemoteMemoryRegion remote) {
        this.frame = frame;
        this.lease = lease;
        this.remote = remote;
    }

    /**
     * Takes memory for a message, which the peer has in a region.
     *
     * @param frame  that announces the message
     * @param pool   for the memory
     * @param remote owned by the landing; closed if there is no memory
     */
    static Landing take(final Incoming frame, final RegionPool pool, final RemoteMemoryRegion remote) {
        boolean taken = false;
        try {
            final Landing landing = new Landing(frame, pool.take(frame.header().messageLength()), remote);
            taken = true;
            return landing;
        } finally {
            if (!taken) {
                remote.close();
            }
        }
    }

    /** Posts the read of the next piece; false if the queue has no room. */
    boolean post(final Connection connection, final long workRequestId) {
        final int piece = Math.min(MAX_READ_BYTES, frame.header().messageLength() - done);
        if (!connection.read(lease.region(), done, remote, frame.advertisement().offset() + done, piece, CompletionFlag.ALWAYS,
            workRequestId)) {
            return false;
        }
        reading = piece;
        return true;
    }

    /** Takes note of a piece that has come; true if it was the last. */
    boolean onRead() {
        done += reading;
        reading = 0;
        return done == frame.header().messageLength();
    }

    /** The frame with its message. */
    Incoming decode() throws ProtocolException {
        return frame.withMessage(lease.buffer(frame.header().messageLength()));
    }

    /** What the peer knows its region by. */
    int advertised() {
        return frame.advertisement().number();
    }

    /** Frees what it held; not while a read is on its way. */
    void close() {
        remote.close();
        lease.release();
    }
}
