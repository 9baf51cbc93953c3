package io.ringpoll.verify.run;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcRemoteMemory;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The client side of one connection: posts operations, and verifies their results.
 *
 * <p>Each work request in flight has a slot, a cell of the client memory and a cell of the server memory, all with the same
 * number, so an operation on a cell begins only after the previous one has completed. Messages have separate cells, which the
 * server releases by its count of consumed messages; the client reads that count by RDMA.
 *
 * <p>{@link #post} is called by the posting thread, the callbacks by the send/write handler and the error handler.
 */
final class ClientSession implements SlotOwner {
    /** The target of reads of the server's consumed count. */
    private static final int COUNT_OFFSET = 0;

    private final int session;
    private final long seed;
    private final ServerLayout layout;
    private final Ledger ledger;
    private final int firstSlot;
    private final RcConnection connection;
    private final RcMemory local;
    private final RcRemoteMemory remote;
    private final UnsafeBuffer memory;
    private final long[] cellIdentities;
    private final boolean faultsPlanned;

    /** Owned by the posting thread. */
    private int nextCell;
    private long writes;
    private long messages;
    private long posted;

    /** The number of messages that the server has consumed, as last read. */
    private final AtomicLong consumed = new AtomicLong();
    private volatile boolean readingCredits;
    private volatile boolean broken;

    /** Written by the error handler thread only. */
    private final AtomicLong flushed = new AtomicLong();
    private volatile int firstFailure = WcStatus.SUCCESS;

    ClientSession(
        final Hello hello, final Ledger ledger, final int firstSlot, final RcConnection connection,
        final RegisteredMemory memory, final RcRemoteMemory remote, final boolean faultsPlanned) {
        this.faultsPlanned = faultsPlanned;
        this.session = hello.session();
        this.seed = hello.seed();
        this.layout = new ServerLayout(hello.depth(), hello.payloadBytes());
        this.ledger = ledger;
        this.firstSlot = firstSlot;
        this.connection = connection;
        this.local = memory.region();
        this.memory = memory.buffer();
        this.remote = remote;
        this.cellIdentities = new long[layout.depth()];
        for (int cell = 0; cell < layout.depth(); cell++) {
            cellIdentities[cell] = Identities.initial(seed, session, cell);
        }
        ledger.setOwner(firstSlot, layout.depth(), this);
    }

    /**
     * Posts one operation if there is room for it.
     *
     * @return true if it was posted; false if the work requests in flight, or the receives of the server, are used up
     */
    boolean post(final OperationKind kind) {
        final int cell = nextCell;
        if (broken || ledger.isOpen(firstSlot + cell)) {
            return false;
        }
        OperationKind possible = kind;
        if (kind == OperationKind.SEND || kind == OperationKind.WRITE_WITH_IMMEDIATE) {
            if (messages - consumed.getAcquire() >= layout.depth()) {
                if (readingCredits) {
                    return false;
                }
                possible = OperationKind.CREDIT_READ;
            }
        }
        if (!post(possible, cell)) {
            ledger.cancel(firstSlot + cell);
            return false;
        }
        nextCell = cell + 1 & layout.depth() - 1;
        posted++;
        return possible == kind;
    }

    private boolean post(final OperationKind kind, final int cell) {
        final int slot = firstSlot + cell;
        return switch (kind) {
            case WRITE -> write(slot, cell);
            case READ -> connection.read(
                local, layout.cellOffset(cell), remote, layout.cellOffset(cell), layout.payloadBytes(), true,
                ledger.open(slot, kind, cell, cellIdentities[cell]));
            case SEND, WRITE_WITH_IMMEDIATE -> message(kind, slot, cell);
            case CREDIT_READ -> readCredits(slot, cell);
            default -> throw new IllegalArgumentException(kind + " is not posted by a client's session");
        };
    }

    private boolean write(final int slot, final int cell) {
        final long identity = Identities.write(seed, session, writes);
        final int offset = layout.cellOffset(cell);
        Payload.fill(memory, offset, layout.payloadBytes(), identity);
        final boolean accepted = connection.write(
            remote, offset, local, offset, layout.payloadBytes(), true,
            ledger.open(slot, OperationKind.WRITE, cell, identity));
        if (accepted) {
            cellIdentities[cell] = identity;
            writes++;
        }
        return accepted;
    }

    private boolean message(final OperationKind kind, final int slot, final int cell) {
        final long message = messages;
        final long identity = Identities.message(seed, session, message);
        final int offset = layout.cellOffset(cell);
        final int length = layout.payloadBytes();
        Payload.fill(memory, offset, length, identity);
        final long workRequestId = ledger.open(slot, kind, cell, identity);
        final boolean accepted = kind == OperationKind.SEND ?
            connection.send(local, offset, length, true, workRequestId) :
            connection.writeWithImmediate(
                remote, layout.messageCellOffset(message), local, offset, length, true, (int) message,
                workRequestId);
        if (accepted) {
            messages++;
        }
        return accepted;
    }

    private boolean readCredits(final int slot, final int cell) {
        // Before the post: its completion may be handled before the post returns.
        readingCredits = true;
        final boolean accepted = connection.read(
            local, COUNT_OFFSET, remote, ServerLayout.CONSUMED_OFFSET, Long.BYTES, true,
            ledger.open(slot, OperationKind.CREDIT_READ, cell, 0));
        if (!accepted) {
            readingCredits = false;
        }
        return accepted;
    }

    /** Sends the number of messages to the server, as the last operation; posting thread, with nothing outstanding. */
    boolean sayGoodbye() {
        memory.putLong(COUNT_OFFSET, messages);
        final boolean accepted = connection.write(
            remote, ServerLayout.SENT_OFFSET, local, COUNT_OFFSET, Long.BYTES, true,
            ledger.open(firstSlot, OperationKind.GOODBYE, 0, 0));
        if (accepted) {
            posted++;
        } else {
            ledger.cancel(firstSlot);
        }
        return accepted;
    }

    /** The peer has disconnected: outstanding work requests complete on the error path, and no more are posted. Any thread. */
    void peerHasGone() {
        broken = true;
    }

    @Override
    public boolean expectsError(final int slot, final WorkCompletion completion) {
        final int status = completion.status();
        final boolean expected = faultsPlanned || SlotOwner.maySignalALostPeer(status);
        if (expected) {
            if (firstFailure == WcStatus.SUCCESS) {
                firstFailure = status;
            }
            broken = true;
            flushed.setRelease(flushed.getPlain() + 1);
        }
        return expected;
    }

    /** Whether the connection has failed, for any reason; any thread. */
    boolean isBroken() {
        return broken;
    }

    /** The status of the first work request on the error path; after the last completion. */
    int firstFailure() {
        return firstFailure;
    }

    /**
     * Work requests that completed on the error path because the peer disconnected or a fault was planned; after the last
     * completion.
     */
    long flushed() {
        return flushed.getAcquire();
    }

    @Override
    public boolean onCompleted(final int slot, final WorkCompletion completion) {
        return switch (ledger.kind(slot)) {
            case READ -> Payload.matches(
                memory, layout.cellOffset(ledger.detail(slot)), layout.payloadBytes(), ledger.identity(slot));
            case CREDIT_READ -> {
                final long count = memory.getLong(COUNT_OFFSET);
                final boolean plausible = count >= consumed.getPlain();
                consumed.setRelease(count);
                readingCredits = false;
                yield plausible;
            }
            default -> true;
        };
    }

    /** Work requests posted so far; posting thread. */
    long posted() {
        return posted;
    }

    /** Messages posted so far; posting thread. */
    long messages() {
        return messages;
    }

    /** Outstanding work requests; any thread. */
    int outstanding() {
        return ledger.openSlots(firstSlot, layout.depth());
    }

    RcConnection connection() {
        return connection;
    }
}
