package io.ringpoll.bench.run;

import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RpmaException;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.WcStatus;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.IdleStrategy;

/**
 * The client of the main job: one thread that keeps the steady workload going on all connections in turn.
 *
 * <p>{@link #run} belongs to the posting thread; {@link #stop()} may come from any.
 */
final class Client implements Runnable {
    private static final int BURST = 16;

    private final RunConfig config;
    private final Pipeline pipeline;
    private final Accounts accounts;
    private final FaultLane faultLane;
    private final IdleStrategy idleStrategy;
    private final List<ClientConnection> connections = new ArrayList<>();
    private final List<ClientSession> sessions = new ArrayList<>();
    private final double failuresPerPost;

    private long random;
    private volatile long posted;
    private volatile boolean stopping;

    Client(
        final RunConfig config, final Pipeline pipeline, final Accounts accounts, final FaultLane faultLane,
        final IdleStrategy idleStrategy) {
        this.config = config;
        this.pipeline = pipeline;
        this.accounts = accounts;
        this.faultLane = faultLane;
        this.idleStrategy = idleStrategy;
        this.random = config.seed();
        final double failing = config.mix().share(OperationKind.FAILING);
        this.failuresPerPost = failing / (1 - failing);
    }

    /** Opens the connections; before {@link #run}. */
    void connect(final Peer peer, final Ledger ledger) {
        for (int session = 0; session < config.connections(); session++) {
            final Hello hello =
                new Hello(Hello.Purpose.STEADY, session, config.depth(), config.payloadBytes(), config.seed());
            final ClientConnection connection = ClientConnection.open(peer, config, hello, pipeline);
            connections.add(connection);
            sessions.add(new ClientSession(
                hello, ledger, ledger.assign(config.depth()), connection.connection(), connection.memory(), connection.cells()));
        }
    }

    /** Posts until {@link #stop()}, then waits for what is outstanding. */
    @Override
    public void run() {
        try {
            config.placement().pinCurrentThread("client");
            postUntilStopped();
        } catch (final RpmaException | IllegalStateException failure) {
            accounts.complain("the client posts no more: " + failure.getMessage());
        }
        awaitCompletions();
        for (final ClientSession session : sessions) {
            if (!session.isBroken() && !session.sayGoodbye()) {
                accounts.complain("a goodbye was refused although nothing was outstanding");
            }
        }
        awaitCompletions();
    }

    /** Posts no more; any thread. */
    void stop() {
        stopping = true;
    }

    /** Work requests posted so far; any thread. */
    long posted() {
        return posted;
    }

    /** Looks whether a peer has gone; any one thread, a few times a second. */
    void watchPeers() {
        for (int i = 0; i < connections.size(); i++) {
            final ClientConnection connection = connections.get(i);
            if (connection.hasPeerGone()) {
                sessions.get(i).peerHasGone();
            }
        }
    }

    /** Whether all peers have gone, so that there is nobody left to post to; any thread. */
    boolean isAlone() {
        // Asked after every burst: no stream, no iterator.
        for (int i = 0; i < sessions.size(); i++) {
            if (!sessions.get(i).isBroken()) {
                return false;
            }
        }
        return true;
    }

    /** Hands the counts to the account and ends the connections; after the posting thread has ended. */
    void close() {
        for (int i = 0; i < sessions.size(); i++) {
            final ClientSession session = sessions.get(i);
            accounts.addPosted(CompletionPath.SEND_WRITE, session.posted() - session.flushed());
            accounts.addPosted(CompletionPath.ERROR, session.flushed());
            final ClientConnection connection = connections.get(i);
            if (session.isBroken()) {
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

    private void postUntilStopped() {
        long count = 0;
        while (!stopping) {
            int progress = 0;
            for (int i = 0; i < sessions.size(); i++) {
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
