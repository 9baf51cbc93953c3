package io.ringpoll.internal.transport;

import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcRemoteMemory;

/**
 * Fetches a long message from the peer's memory in pieces, one RDMA read at a time. Guarded by the lock of its link.
 */
final class Landing {
    /** The maximum length of a single read depends on the device: from 8 MiB (Soft-RoCE) to 2 GiB. */
    static final int MAX_READ_BYTES = 4 << 20;

    private final Incoming frame;
    private final ReorderBuffer.Place<Incoming> place;
    private final RegionPool.Lease lease;
    private final RcRemoteMemory remote;
    private int done;
    private int reading;

    private Landing(final Incoming frame, final ReorderBuffer.Place<Incoming> place, final RegionPool.Lease lease,
        final RcRemoteMemory remote) {
        this.frame = frame;
        this.place = place;
        this.lease = lease;
        this.remote = remote;
    }

    /**
     * Takes memory for a message in a region of the peer.
     *
     * @param frame  advertises the message
     * @param place  of the message in the order of delivery
     * @param pool   provides the memory
     * @param remote region of the peer
     */
    static Landing take(final Incoming frame, final ReorderBuffer.Place<Incoming> place, final RegionPool pool,
        final RcRemoteMemory remote) {
        return new Landing(frame, place, pool.take(frame.header().messageLength()), remote);
    }

    /** As {@link #take}, with memory that is registered already; returns null if there is none. */
    static Landing takeUnused(final Incoming frame, final ReorderBuffer.Place<Incoming> place, final RegionPool pool,
        final RcRemoteMemory remote) {
        final RegionPool.Lease lease = pool.takeUnused(frame.header().messageLength());
        return lease == null ? null : new Landing(frame, place, lease, remote);
    }

    /** Whether decoding takes long; a packet of a stream is not decoded. */
    boolean isLong() throws ProtocolException {
        return frame.header().messageLength() > LongMessageThreads.INLINE_BYTES && !frame.isPacket();
    }

    /** Posts the read of the next piece; returns false if the queue is full. */
    boolean post(final RcConnection connection, final long workRequestId) {
        final int piece = Math.min(MAX_READ_BYTES, frame.header().messageLength() - done);
        if (!connection.read(lease.region(), done, remote, frame.advertisement().offset() + done, piece, true,
            workRequestId)) {
            return false;
        }
        reading = piece;
        return true;
    }

    /** Records a completed read; returns true if it was the last. */
    boolean onRead() {
        done += reading;
        reading = 0;
        return done == frame.header().messageLength();
    }

    /** The frame with its complete message; a packet of a stream keeps the memory. */
    Incoming decode() throws ProtocolException {
        return frame.isPacket() ? frame.withPacket(lease) : frame.withMessage(lease.buffer(frame.header().messageLength()));
    }

    /** Length of the message. */
    int lengthBytes() {
        return frame.header().messageLength();
    }

    /** Length of its registered memory. */
    int registeredBytes() {
        return lease.capacityBytes();
    }

    /** The place of the message in the order of delivery. */
    ReorderBuffer.Place<Incoming> place() {
        return place;
    }

    /** The number by which the peer identifies its region. */
    int advertised() {
        return frame.advertisement().number();
    }

    /** Releases the memory; not while a read is in flight. */
    void close() {
        lease.release();
    }
}
