package io.ringpoll.verify.run;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcRequest;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The server side of one connection: verifies each message in place, in order, and posts its receive again.
 *
 * <p>The callbacks are called by the handlers of the receive and error paths. A receive is <em>retired</em> when it has been
 * flushed; when all are, no handler uses this session any more and the connection can be closed.
 */
final class ServerSession implements SlotOwner {
    private static final long UNKNOWN = -1;

    private final int session;
    private final long seed;
    private final ServerLayout layout;
    private final Ledger ledger;
    private final int firstSlot;
    private final RegisteredMemory memory;
    private final UnsafeBuffer buffer;
    private final boolean faultsPlanned;
    private final AtomicInteger retired = new AtomicInteger();
    private volatile RcConnection connection;
    /** Guarded by this. */
    private boolean ending;

    /** Owned by the receive handler thread. */
    private long messages;
    private long reposted;

    ServerSession(
        final Hello hello, final Ledger ledger, final int firstSlot, final RegisteredMemory memory, final boolean faultsPlanned) {
        this.faultsPlanned = faultsPlanned;
        this.session = hello.session();
        this.seed = hello.seed();
        this.layout = new ServerLayout(hello.depth(), hello.payloadBytes());
        this.ledger = ledger;
        this.firstSlot = firstSlot;
        this.memory = memory;
        this.buffer = memory.buffer();
        buffer.putLong(ServerLayout.SENT_OFFSET, UNKNOWN);
        ledger.setOwner(firstSlot, layout.depth(), this);
        for (int cell = 0; cell < layout.depth(); cell++) {
            Payload.fill(buffer, layout.cellOffset(cell), layout.payloadBytes(), Identities.initial(seed, session, cell));
        }
    }

    /** Posts all receives, before the connection is accepted. */
    void postReceives(final RcRequest request) {
        for (int receive = 0; receive < layout.depth(); receive++) {
            request.receive(
                memory.region(), layout.receiveOffset(receive), layout.payloadBytes(),
                ledger.open(firstSlot + receive, OperationKind.RECEIVE, receive, 0));
        }
    }

    /** The request was not accepted, so that its receives are gone too. */
    void giveUp() {
        for (int receive = 0; receive < layout.depth(); receive++) {
            ledger.cancel(firstSlot + receive);
        }
    }

    /** Sets the connection on which receives are posted again; before its queues are polled. */
    void connected(final RcConnection accepted) {
        connection = accepted;
    }

    @Override
    public boolean onCompleted(final int slot, final WorkCompletion completion) {
        final long message = messages++;
        final long identity = Identities.message(seed, session, message);
        if (completion.opcode() == WcOpcode.RECV_RDMA_WITH_IMM) {
            return completion.immediate() == (int) message &&
                Payload.matches(buffer, layout.messageCellOffset(message), layout.payloadBytes(), identity);
        }
        return completion.lengthBytes() == layout.payloadBytes() &&
            Payload.matches(buffer, layout.receiveOffset(ledger.detail(slot)), layout.payloadBytes(), identity);
    }

    @Override
    public void onClosed(final int slot, final WorkCompletion completion) {
        if (completion.status() != WcStatus.SUCCESS) {
            retired.incrementAndGet();
            return;
        }
        postAgain(slot, slot - firstSlot);
    }

    /** After the last receive has retired the memory may be freed: no message is written there after it. */
    private synchronized void postAgain(final int slot, final int receive) {
        if (ending) {
            retired.incrementAndGet();
            return;
        }
        final long workRequestId = ledger.open(slot, OperationKind.RECEIVE, receive, 0);
        if (connection.receive(memory.region(), layout.receiveOffset(receive), layout.payloadBytes(), workRequestId)) {
            reposted++;
            buffer.putLongRelease(ServerLayout.CONSUMED_OFFSET, messages);
        } else {
            ledger.cancel(slot);
            retired.incrementAndGet();
        }
    }

    /**
     * From here on no receive is posted again; called before the disconnect, by any thread. A receive that is posted to a queue
     * pair in the error state is flushed by hardware, but never completes on Soft-RoCE.
     */
    synchronized void end() {
        ending = true;
    }

    @Override
    public boolean expectsError(final int slot, final WorkCompletion completion) {
        return faultsPlanned || completion.status() == WcStatus.WR_FLUSH_ERR;
    }

    /** Whether no receive is posted any more; any thread. */
    boolean isRetired() {
        return retired.get() == layout.depth();
    }

    /**
     * The number of messages that had to arrive, after the session has retired: the client's count, or all arrived ones if it
     * could not send its count.
     */
    long messagesExpected() {
        return hasGoodbye() ? buffer.getLong(ServerLayout.SENT_OFFSET) : messages;
    }

    /** Whether the client has sent its count; after the session has retired. */
    boolean hasGoodbye() {
        return buffer.getLong(ServerLayout.SENT_OFFSET) != UNKNOWN;
    }

    /** The total of posted receives; after the session has retired. */
    long receivesPosted() {
        return layout.depth() + reposted;
    }

    RcConnection connection() {
        return connection;
    }

    RegisteredMemory memory() {
        return memory;
    }
}
