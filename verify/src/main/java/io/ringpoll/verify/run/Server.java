package io.ringpoll.verify.run;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.os.Errno;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The server of the main job: accepts connections, and runs a thread for each until its end.
 *
 * <p>{@link #run} is called by the accepting thread. No code here is on the path of a completion.
 */
final class Server implements Runnable {
    private static final int ACCEPT_TIMEOUT_MS = 100;

    private final RcPeer peer;
    private final RcListener endpoint;
    private final PolledQueues queues;
    private final Ledger ledger;
    private final SlotRanges slots;
    private final Accounts accounts;
    private final RunConfig config;
    private final List<Thread> sessions = new CopyOnWriteArrayList<>();
    private volatile boolean hasServed;
    private volatile boolean stopping;

    Server(
        final RcPeer peer, final RcListener endpoint, final PolledQueues queues, final Ledger ledger, final Accounts accounts,
        final RunConfig config) {
        this.peer = peer;
        this.endpoint = endpoint;
        this.queues = queues;
        this.ledger = ledger;
        this.slots = new SlotRanges(ledger, config.depth());
        this.accounts = accounts;
        this.config = config;
    }

    /** Accepts until {@link #stop}. */
    @Override
    public void run() {
        final RcConfig sizes = Connections.serverConfig(config);
        try {
            while (!stopping) {
                acceptNext(sizes);
            }
        } catch (final RdmaException failure) {
            accounts.complain("the server accepts no more: " + failure.getMessage());
        }
    }

    private void acceptNext(final RcConfig sizes) {
        try {
            endpoint.nextRequest(sizes, ACCEPT_TIMEOUT_MS).ifPresent(this::accept);
        } catch (final RdmaException failure) {
            if (config.faults() == null) {
                throw failure;
            }
        }
    }

    /** Whether clients have connected and all have disconnected; any thread. */
    boolean isDeserted() {
        return hasServed && sessions.stream().noneMatch(Thread::isAlive);
    }

    /** Whether a client has ever connected; any thread. */
    boolean hasServed() {
        return hasServed;
    }

    /** The accepting thread and the sessions end; any thread. */
    void stop() {
        stopping = true;
    }

    /** Waits until the sessions have ended; any thread, when the accepting thread has ended. */
    void awaitSessions(final long timeoutNs) {
        final Deadline deadline = Deadline.after(timeoutNs);
        for (final Thread thread : sessions) {
            if (!deadline.join(thread)) {
                accounts.complain(thread.getName() + " has not ended");
            }
        }
    }

    private void accept(final RcRequest request) {
        try (request) {
            final Hello hello = Hello.decode(request.privateData());
            if (hello.depth() != config.depth()) {
                throw new IllegalArgumentException("depth " + hello.depth() + ", but the server's is " + config.depth());
            }
            accept(hello, request);
        } catch (final IllegalArgumentException | IllegalStateException | RdmaException refused) {
            accounts.complainUnlessPlanned("a client was refused: " + refused.getMessage());
        }
    }

    /** Accepts on this thread: until the connection has its own channel, its events arrive on that of the endpoint. */
    private void accept(final Hello hello, final RcRequest request) {
        final ServerMemory memory = ServerMemory.allocate(peer, hello);
        final int firstSlot = slots.take();
        final ServerSession session = new ServerSession(hello, ledger, firstSlot, memory.cells(), config.faults() != null);
        final RcConnection connection;
        try {
            session.postReceives(request);
            connection = request.connect(memory.welcome(hello.purpose()).encode());
        } catch (final RdmaException refused) {
            request.close();
            session.giveUp();
            slots.give(firstSlot);
            memory.close();
            if (refused.errno() == Errno.EINVAL && config.faults() == null) {
                // The connection manager's answer to the acceptance of a client that is no longer there.
                accounts.note("client connection " + hello.session() + " has gone before it was accepted");
                return;
            }
            throw refused;
        }
        start("ringpoll-server-" + hello.session(), () -> {
            try (memory) {
                try (connection) {
                    serve(session, connection);
                }
                account(hello, session);
                slots.give(firstSlot);
            } catch (final RdmaException | IllegalStateException failure) {
                accounts.complainUnlessPlanned("connection " + hello.session() + " at the server: " + failure.getMessage());
            }
        });
    }

    private void account(final Hello hello, final ServerSession session) {
        final long expected = session.messagesExpected();
        accounts.addPosted(CompletionPath.RECEIVE, expected);
        accounts.addPosted(CompletionPath.ERROR, session.receivesPosted() - expected);
        if (hello.purpose() == Hello.Purpose.STEADY && !session.hasGoodbye() && config.faults() == null) {
            accounts.note("client connection " + hello.session() + " has gone without a goodbye; its " +
                (session.receivesPosted() - expected) + " receives were flushed");
        }
    }

    private void start(final String name, final Runnable work) {
        sessions.removeIf(thread -> !thread.isAlive());
        final Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        sessions.add(thread);
        thread.start();
        hasServed = true;
    }

    /**
     * From acceptance to the end: this thread only waits for the disconnect of the client, and for the last flush. A client that
     * is killed while it connects ends its connection before it is established; its receives are flushed without a disconnect.
     */
    private void serve(final ServerSession session, final RcConnection connection) {
        session.connected(connection);
        queues.add(connection);
        try {
            final boolean isEstablished = Connections.awaitEstablishedOrGone(connection);
            if (isEstablished) {
                Connections.awaitEnd(connection, () -> stopping);
            }
            session.end();
            if (isEstablished) {
                connection.disconnect();
            }
            if (!Connections.await(session::isRetired)) {
                accounts.complain(connection.name() + " at the server: receives were not flushed");
            }
        } finally {
            queues.remove(connection);
        }
    }
}
