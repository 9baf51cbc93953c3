package io.ringpoll.verify.run;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.RdmaException;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.fault.FaultRule;
import io.ringpoll.internal.rc.RcPeer;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.IdleStrategy;

/**
 * The client of the main job: one thread that posts the steady workload on all connections in turn.
 *
 * <p>{@link #run} is called by the posting thread; {@link #stop()} by any thread.
 */
final class Client implements Runnable {
    private static final int BURST = 16;
    private static final int RECONNECTS = 20;

    private final RunConfig config;
    private final PolledQueues queues;
    private final Accounts accounts;
    private final FaultLane faultLane;
    private final IdleStrategy idleStrategy;
    private final List<ClientConnection> connections = new ArrayList<>();
    private final List<ClientSession> sessions = new ArrayList<>();
    private final int[] firstSlots;
    private final double failuresPerPost;

    private RcPeer peer;
    private Ledger ledger;
    private int nextSession;
    private long random;
    private volatile long posted;
    private volatile boolean stopping;
    private volatile boolean givenUp;

    Client(
        final RunConfig config, final PolledQueues queues, final Accounts accounts, final FaultLane faultLane,
        final IdleStrategy idleStrategy) {
        this.config = config;
        this.queues = queues;
        this.accounts = accounts;
        this.faultLane = faultLane;
        this.idleStrategy = idleStrategy;
        this.random = config.seed();
        final double failing = config.mix().share(OperationKind.FAILING);
        this.failuresPerPost = config.faults() == null ? failing / (1 - failing) : 0;
        this.firstSlots = new int[config.connections()];
    }

    /** Opens the connections; before {@link #run}. */
    void connect(final RcPeer peer, final Ledger ledger) {
        this.peer = peer;
        this.ledger = ledger;
        for (int index = 0; index < config.connections(); index++) {
            firstSlots[index] = ledger.assign(config.depth());
            final ClientConnection connection = ClientConnection.open(peer, config, hello(), queues);
            connections.add(connection);
            sessions.add(session(connection, index));
        }
    }

    private Hello hello() {
        return new Hello(Hello.Purpose.STEADY, nextSession, config.depth(), config.payloadBytes(), config.seed());
    }

    private ClientSession session(final ClientConnection connection, final int index) {
        final ClientSession session = new ClientSession(
            hello(), ledger, firstSlots[index], connection.connection(), connection.memory(), connection.cells(),
            config.faults() != null);
        nextSession++;
        return session;
    }

    /** Posts until {@link #stop()}, then waits for outstanding work requests. */
    @Override
    public void run() {
        try {
            config.pinning().pinCurrentThread("client");
            postUntilStopped();
        } catch (final RdmaException | IllegalStateException failure) {
            accounts.complain("the client posts no more: " + failure.getMessage());
        }
        awaitCompletions();
        for (final ClientSession session : sessions) {
            if (!session.isBroken() && session.outstanding() == 0 && !sayGoodbye(session)) {
                accounts.complain("a goodbye was refused although nothing was outstanding");
            }
        }
        awaitCompletions();
    }

    private boolean sayGoodbye(final ClientSession session) {
        final int tries = config.faults() == null ? 1 : 2 * FaultRule.MAX_TIMES;
        for (int i = 0; i < tries; i++) {
            if (session.sayGoodbye()) {
                return true;
            }
        }
        return false;
    }

    /** Posts no more; any thread. */
    void stop() {
        stopping = true;
    }

    /** Work requests posted so far; any thread. */
    long posted() {
        return posted;
    }

    /** Checks whether a peer has disconnected; one thread at a time, a few times a second. */
    void watchPeers() {
        if (config.faults() != null) {
            return; // The posting thread detects broken connections by their completions and replaces them.
        }
        for (int i = 0; i < connections.size(); i++) {
            final ClientConnection connection = connections.get(i);
            if (connection.hasPeerGone()) {
                sessions.get(i).peerHasGone();
            }
        }
    }

    /** Whether all peers have disconnected, so that no connection is left to post to; any thread. */
    boolean isAlone() {
        if (config.faults() != null) {
            return givenUp;
        }
        // Called after every burst: without a stream or an iterator.
        for (int i = 0; i < sessions.size(); i++) {
            if (!sessions.get(i).isBroken()) {
                return false;
            }
        }
        return true;
    }

    /** Adds the counts to the account and closes the connections; after the posting thread has ended. */
    void close() {
        for (int i = 0; i < sessions.size(); i++) {
            final ClientSession session = sessions.get(i);
            account(session);
            final ClientConnection connection = connections.get(i);
            if (session.isBroken() && config.faults() == null) {
                final String what = "connection " + i + ": " + session.flushed() + " work requests were flushed";
                if (Connections.await(connection::hasPeerGone)) {
                    accounts.note(what + ", the peer has gone");
                } else {
                    accounts.complain(
                        what + ", the first with " + WcStatus.name(session.firstFailure()) + ", although the peer is there");
                }
            }
            connection.disconnect();
            connection.close();
        }
    }

    private void account(final ClientSession session) {
        accounts.addPosted(CompletionPath.SEND_WRITE, session.posted() - session.flushed());
        accounts.addPosted(CompletionPath.ERROR, session.flushed());
    }

    /** The fault plan has broken a connection: replaces it, after all of its work requests have completed. */
    private void replace(final int index) {
        final ClientConnection broken = connections.get(index);
        broken.disconnect();
        ClientConnection fresh = null;
        for (int i = 1; fresh == null; i++) {
            try {
                fresh = ClientConnection.open(peer, config, hello(), queues);
            } catch (final IllegalStateException refused) {
                if (i == RECONNECTS || stopping) {
                    accounts.complain("a broken connection was not replaced: " + refused.getMessage());
                    givenUp = true;
                    return;
                }
            }
        }
        account(sessions.get(index));
        broken.close();
        connections.set(index, fresh);
        sessions.set(index, session(fresh, index));
        accounts.onReplaced();
    }

    private void postUntilStopped() {
        long count = 0;
        while (!stopping) {
            int progress = 0;
            for (int i = 0; i < sessions.size(); i++) {
                final ClientSession session = sessions.get(i);
                if (session.isBroken() && config.faults() != null && session.outstanding() == 0) {
                    replace(i);
                }
                progress += postBurst(sessions.get(i));
            }
            count += progress;
            posted = count;
            faultLane.owe((long) (count * failuresPerPost));
            while (faultLane.isBehind() && !stopping) {
                idleStrategy.idle();
            }
            if (config.operations() > 0 && count >= config.operations() || isAlone()) {
                return;
            }
            idleStrategy.idle(progress);
        }
    }

    private int postBurst(final ClientSession session) {
        final long before = session.posted();
        for (int i = 0; i < BURST; i++) {
            random += 0x9E37_79B9_7F4A_7C15L;
            if (!session.post(config.mix().choose(Payload.mix(random)))) {
                break;
            }
        }
        return (int) (session.posted() - before);
    }

    private void awaitCompletions() {
        if (!Connections.await(() -> outstanding() == 0)) {
            accounts.complain(outstanding() + " work requests of the client did not complete");
        }
    }

    private int outstanding() {
        int sum = 0;
        for (final ClientSession session : sessions) {
            sum += session.outstanding();
        }
        return sum;
    }
}
