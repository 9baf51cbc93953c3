package io.ringpoll.verify.run;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.RdmaException;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRemoteMemory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Provokes failures, with one connection each, since a failed operation ends its connection: a write beyond the remote region, a
 * write without the access right, and a disconnect with outstanding receives. The work requests posted after them are flushed.
 *
 * <p>Runs on its own thread and follows the steady workload at its share of the mix.
 */
final class FaultLane implements Runnable, SlotOwner {
    private static final Hello.Purpose[] PURPOSES =
        {Hello.Purpose.BEYOND_REGION, Hello.Purpose.NO_RIGHTS, Hello.Purpose.DISCONNECT};
    private static final int GOOD_WRITES = 4;
    private static final long IDLE_NS = 200_000;

    private final RcPeer peer;
    private final PolledQueues queues;
    private final Ledger ledger;
    private final Accounts accounts;
    private final RunConfig config;
    private final int firstSlot;
    private final int failuresAtOnce;
    private final AtomicLong owed = new AtomicLong();
    private final AtomicLong provoked = new AtomicLong();
    private volatile boolean stopping;
    private volatile String failure;

    FaultLane(
        final RcPeer peer, final PolledQueues queues, final Ledger ledger, final Accounts accounts, final RunConfig config) {
        this.peer = peer;
        this.queues = queues;
        this.ledger = ledger;
        this.accounts = accounts;
        this.config = config;
        this.failuresAtOnce = config.depth();
        this.firstSlot = ledger.assign(failuresAtOnce);
        ledger.setOwner(firstSlot, failuresAtOnce, this);
    }

    /** Sets the number of failing work requests due by now; any thread. */
    void owe(final long failures) {
        owed.setRelease(failures);
    }

    /** Whether it is so far behind that the steady workload should wait; any thread. */
    boolean isBehind() {
        return failure == null && owed.get() - provoked.get() > 4L * failuresAtOnce;
    }

    /** The reason for which it has given up, or null; any thread. */
    String failure() {
        return failure;
    }

    /** Provokes no more failures; any thread. */
    void stop() {
        stopping = true;
    }

    @Override
    public void run() {
        for (int episode = 0; !stopping; episode++) {
            while (!stopping && provoked.get() >= owed.getAcquire()) {
                LockSupport.parkNanos(IDLE_NS);
            }
            if (!stopping) {
                try {
                    provoke(PURPOSES[episode % PURPOSES.length], config.connections() + episode);
                } catch (final RdmaException | IllegalStateException | IllegalArgumentException reason) {
                    failure = reason.getMessage();
                    return;
                }
            }
        }
    }

    private void provoke(final Hello.Purpose purpose, final int session) {
        final Hello hello = new Hello(purpose, session, config.depth(), config.payloadBytes(), config.seed());
        try (ClientConnection client = ClientConnection.open(peer, config, hello, queues)) {
            final long firstCell = new ServerLayout(hello.depth(), hello.payloadBytes()).cellOffset(0);
            for (int slot = 0; slot < Math.min(GOOD_WRITES, failuresAtOnce); slot++) {
                post(client, OperationKind.WRITE, client.cells(), firstCell, slot);
            }
            awaitCompletions(Hello.Purpose.STEADY);
            switch (purpose) {
                case BEYOND_REGION, NO_RIGHTS -> fail(client, purpose);
                default -> disconnectWithReceives(client);
            }
            awaitCompletions(purpose);
            provoked.addAndGet(failuresAtOnce);
            client.disconnect();
        }
    }

    /** The first write fails at the peer, the following ones are flushed. */
    private void fail(final ClientConnection client, final Hello.Purpose purpose) {
        try (RcRemoteMemory refused = client.refused()) {
            // The region has half of the length in the descriptor.
            final long offset = purpose == Hello.Purpose.BEYOND_REGION ? refused.lengthBytes() / 2 : 0;
            for (int slot = 0; slot < failuresAtOnce; slot++) {
                post(client, OperationKind.FAILING, refused, offset, slot);
            }
            awaitCompletions(purpose);
        }
    }

    private void disconnectWithReceives(final ClientConnection client) {
        for (int slot = 0; slot < failuresAtOnce; slot++) {
            final long workRequestId = ledger.open(firstSlot + slot, OperationKind.FAILING, 0, 0);
            if (!client.connection().receive(client.memory().region(), 0, config.payloadBytes(), workRequestId)) {
                throw new IllegalStateException("a receive was refused");
            }
            accounts.addPosted(CompletionPath.ERROR, 1);
        }
        client.disconnect();
    }

    private void post(
        final ClientConnection client, final OperationKind kind, final RcRemoteMemory target, final long offset,
        final int slot) {
        final long workRequestId = ledger.open(firstSlot + slot, kind, 0, 0);
        if (!client.connection().write(
                target, offset, client.memory().region(), 0, config.payloadBytes(), true, workRequestId)) {
            throw new IllegalStateException("a write was refused although the send queue has room");
        }
        accounts.addPosted(kind.path(), 1);
    }

    private void awaitCompletions(final Hello.Purpose purpose) {
        if (!Connections.await(() -> ledger.openSlots(firstSlot, failuresAtOnce) == 0)) {
            throw new IllegalStateException(
                ledger.openSlots(firstSlot, failuresAtOnce) + " work requests did not complete after " + purpose);
        }
    }

    @Override
    public boolean expectsError(final int slot, final WorkCompletion completion) {
        if (!SlotOwner.maySignalALostPeer(completion.status())) {
            return false;
        }
        accounts.addPosted(ledger.kind(slot).path(), -1);
        accounts.addPosted(CompletionPath.ERROR, 1);
        failure = "a write ended with " + WcStatus.name(completion.status());
        return true;
    }

    @Override
    public boolean onCompleted(final int slot, final WorkCompletion completion) {
        return true;
    }
}
