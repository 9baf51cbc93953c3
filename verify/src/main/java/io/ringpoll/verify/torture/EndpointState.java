package io.ringpoll.verify.torture;

import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.rc.RcUsage;
import java.nio.ByteOrder;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One side of a connection under torture: its work, its receives, and the ends of both.
 *
 * <p>Posted to by one thread; the handlers record the ends.
 *
 * <pre>
 *   memory:  cells of one message's length: reads | target of the peer's writes | each message | each receive
 *   wr_id:   tag of the scene 16 | endpoint 15 | receive 1 | index 32
 * </pre>
 */
final class EndpointState implements AutoCloseable {
    private static final int TAG_SHIFT = 48;
    private static final int ENDPOINT_SHIFT = 33;
    private static final int ENDPOINT_MASK = 0x7FFF;
    private static final long RECEIVE_BIT = 1L << 32;
    /** Receives without a message: a disconnect flushes them. */
    private static final int SPARE_RECEIVES = 3;
    private static final int READ_CELL = 0;
    private static final int TARGET_CELL = 1;
    private static final int FIXED_CELLS = 2;

    private final int number;
    private final long tag;
    private final Work work;
    private final Ends sends;
    private final Ends receives;
    private final int cellBytes;
    private final RcPeer peer;
    private final RcMemory memory;
    private final UnsafeBuffer buffer;
    private volatile boolean lostSends;
    private volatile boolean lostReceives;

    private RcConnection connection;
    private RcRemoteMemory remote;
    private int posted;
    private int receivesPosted;
    private int messages;
    private boolean stopped;

    /**
     * Prepares a side.
     *
     * @param number   index among all endpoints of the scene, from 0
     * @param tag      tag of the scene, to detect completions of other scenes
     * @param work     operations to post
     * @param messages maximum number of messages of the peer
     * @param topology topology of the scene
     * @param peer     owner of the memory
     */
    EndpointState(final int number, final long tag, final Work work, final int messages, final Topology topology,
        final RcPeer peer) {
        this.number = number;
        this.tag = tag & 0xFFFF;
        this.work = work;
        this.sends = new Ends(work.size());
        this.receives = new Ends(messages + SPARE_RECEIVES);
        this.cellBytes = topology.maxPayloadBytes();
        this.peer = peer;
        this.memory = peer.allocate((long) cellBytes * (FIXED_CELLS + work.messages() + receives.size()), RcUsage.values());
        this.buffer = new UnsafeBuffer(memory.memory().asByteBuffer());
    }

    /** The endpoint of a work request, or -1 if it belongs to another scene. */
    static int endpointOf(final long workRequestId, final long tag) {
        return workRequestId >>> TAG_SHIFT == (tag & 0xFFFF) ? (int) (workRequestId >>> ENDPOINT_SHIFT) & ENDPOINT_MASK : -1;
    }

    static boolean isReceive(final long workRequestId) {
        return (workRequestId & RECEIVE_BIT) != 0;
    }

    static int indexOf(final long workRequestId) {
        return (int) workRequestId;
    }

    void connected(final RcConnection established, final byte[] descriptorOfOther) {
        connection = established;
        remote = peer.remote(descriptorOfOther);
    }

    /** Posts as many receives as there is room for. */
    boolean postReceives() {
        final int before = receivesPosted;
        while (receivesPosted < receives.size() && connection.receive(
            memory, receiveCell(receivesPosted), cellBytes, id(receivesPosted) | RECEIVE_BIT)) {
            receivesPosted++;
        }
        return receivesPosted > before;
    }

    /** Posts the next work request; false if there is no room for it now. */
    boolean postNext() {
        final int index = posted;
        final int length = work.lengthBytes(index);
        final boolean signaled = work.isSignalled(index);
        final long identity = identity(messages);
        final long id = id(index);
        final long source = cell(FIXED_CELLS + messages % Math.max(1, work.messages()));
        final long target = cell(TARGET_CELL);
        if (work.kind(index).isMessage()) {
            buffer.putLong((int) source, identity, ByteOrder.LITTLE_ENDIAN);
        }
        final boolean accepted = switch (work.kind(index)) {
            case WRITE -> connection.write(remote, target, memory, cell(READ_CELL), length, signaled, id);
            case WRITE_WITH_IMMEDIATE ->
                connection.writeWithImmediate(remote, target, memory, source, length, signaled, (int) identity, id);
            case SEND -> connection.send(memory, source, length, signaled, id);
            case SEND_WITH_IMMEDIATE -> connection.sendWithImmediate(memory, source, length, signaled, (int) identity, id);
            case READ -> connection.read(memory, cell(READ_CELL), remote, target, length, signaled, id);
            case FLUSH -> connection.flush(remote, target, length, signaled, id);
        };
        if (accepted) {
            posted++;
            messages += work.kind(index).isMessage() ? 1 : 0;
        }
        return accepted;
    }

    /** The content of the n-th message of this side. */
    long identity(final int message) {
        return (long) number << 32 | message;
    }

    /** The first bytes of a received message. */
    long received(final int index) {
        return buffer.getLong((int) receiveCell(index), ByteOrder.LITTLE_ENDIAN);
    }

    private long cell(final int index) {
        return (long) cellBytes * index;
    }

    private long receiveCell(final int receive) {
        return cell(FIXED_CELLS + work.messages() + receive);
    }

    private long id(final int index) {
        return tag << TAG_SHIFT | (long) number << ENDPOINT_SHIFT | index;
    }

    boolean isDone() {
        return stopped || posted == work.size();
    }

    /** Marks the end of posting: no further work request follows. */
    void stopPosting() {
        stopped = true;
    }

    /** The main completion queue has failed, and its completions are lost; any thread. */
    void loseSends() {
        lostSends = true;
    }

    /** The completion queue of the receives has failed; any thread. */
    void loseReceives() {
        lostReceives = true;
    }

    boolean hasLostSends() {
        return lostSends;
    }

    boolean hasLostReceives() {
        return lostReceives;
    }

    /** Index of the first failed work request of the send queue; the number of posted ones if none has failed. */
    int firstFailed() {
        for (int i = 0; i < posted; i++) {
            if (sends.hasEnded(i) && sends.status(i) != 0) {
                return i;
            }
        }
        return posted;
    }

    /**
     * Whether all work requests of the send queue that must complete have: signalled ones, and all from the first failed one on.
     */
    boolean haveSendsEnded() {
        final int failed = firstFailed();
        for (int i = 0; i < posted; i++) {
            if (!sends.hasEnded(i) && (work.isSignalled(i) || i >= failed)) {
                return false;
            }
        }
        return true;
    }

    boolean haveReceivesEnded() {
        for (int i = 0; i < receivesPosted; i++) {
            if (!receives.hasEnded(i)) {
                return false;
            }
        }
        return true;
    }

    int number() {
        return number;
    }

    Work work() {
        return work;
    }

    Ends sends() {
        return sends;
    }

    Ends receives() {
        return receives;
    }

    int posted() {
        return posted;
    }

    int receivesPosted() {
        return receivesPosted;
    }

    RcConnection connection() {
        return connection;
    }

    byte[] descriptor() {
        return memory.descriptor();
    }

    @Override
    public void close() {
        if (remote != null) {
            remote.close();
        }
        if (connection != null) {
            connection.close();
        }
        memory.close();
    }
}
