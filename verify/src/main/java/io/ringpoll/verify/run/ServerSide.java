package io.ringpoll.verify.run;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.os.Errno;
import java.util.concurrent.TimeUnit;

/**
 * The server of the main job with its accepting thread.
 *
 * <p>Used by the main thread.
 */
final class ServerSide implements Side {
    private static final long STOP_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long FIRST_CLIENT_NS = TimeUnit.MINUTES.toNanos(5);
    /** Between two connections of the fault lane there may be no client. */
    private static final long DESERTED_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final int PORTS_TRIED = 64;

    private final Accounts accounts;
    private final RcListener endpoint;
    private final Server server;
    private final Thread thread;
    private final int port;
    private final long startNs = System.nanoTime();
    private long desertedFromNs = startNs;

    /** Listens and starts. */
    ServerSide(
        final RcPeer peer, final PolledQueues queues, final Ledger ledger, final Accounts accounts, final RunConfig config) {
        this.accounts = accounts;
        int candidate = config.port();
        RcListener opened = null;
        while (opened == null) {
            opened = listen(peer, config, candidate);
            candidate += opened == null ? 1 : 0;
        }
        this.port = candidate;
        this.endpoint = opened;
        this.server = new Server(peer, endpoint, queues, ledger, accounts, config);
        this.thread = MainJob.start(server, "ringpoll-server");
    }

    /** The listening port: the requested one, or the first free one from the default on. */
    int port() {
        return port;
    }

    /** Null if the port is in use and another may be tried. */
    private static RcListener listen(final RcPeer peer, final RunConfig config, final int port) {
        try {
            return peer.listen(config.address(), port);
        } catch (final RdmaException refused) {
            if (refused.errno() != Errno.EADDRINUSE) {
                throw refused;
            }
            if (config.portIsChosen() || port == config.port() + PORTS_TRIED) {
                throw new IllegalStateException(
                    "port " + port + " of " + config.address() + " is in use: choose another with --address " +
                        config.address() + ":PORT, or leave the port out", refused);
            }
            return null;
        }
    }

    @Override
    public boolean hasBegun() {
        return server.hasServed();
    }

    @Override
    public boolean isOver() {
        final long nowNs = System.nanoTime();
        if (!server.hasServed()) {
            if (nowNs - startNs > FIRST_CLIENT_NS) {
                accounts.complain("no client connected within " + TimeUnit.NANOSECONDS.toSeconds(FIRST_CLIENT_NS) + " s");
                return true;
            }
            return false;
        }
        if (!server.isDeserted()) {
            desertedFromNs = nowNs;
        }
        return nowNs - desertedFromNs > DESERTED_NS;
    }

    @Override
    public void finish() {
        // The posted receives complete when the clients disconnect.
    }

    @Override
    public void close() throws InterruptedException {
        server.stop();
        thread.join();
        server.awaitSessions(STOP_TIMEOUT_NS);
        endpoint.close();
    }
}
