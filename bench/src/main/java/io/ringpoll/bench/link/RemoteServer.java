package io.ringpoll.bench.link;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.os.Errno;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The server of measurements from other processes: accepts clients, lets a pipeline answer their messages, and ends after the
 * last client. Used by one thread.
 */
public final class RemoteServer {
    private static final int ACCEPT_TIMEOUT_MS = 50;
    private static final long FIRST_CLIENT_NS = TimeUnit.MINUTES.toNanos(5);

    private final RdmaApi api;
    private final String host;
    private final int port;
    private final PrintWriter progress;
    private final List<ServedClient> clients = new ArrayList<>();
    private int served;
    private boolean refused;

    /**
     * Prepares a server.
     *
     * @param api      the binding that makes the connections
     * @param host     address of the device
     * @param port     port of the listener
     * @param progress receives a line for the start and the end, and for each client
     */
    public RemoteServer(final RdmaApi api, final String host, final int port, final PrintWriter progress) {
        this.api = api;
        this.host = host;
        this.port = port;
        this.progress = progress;
    }

    /**
     * Serves until the last client has disconnected or gone.
     *
     * @param threads         its hot threads
     * @param runToCompletion whether its poller answers, instead of a handler on another thread
     * @return whether each client was accepted
     * @throws IllegalStateException if the port is in use, no client connects within a minute, or the pipeline fails; the
     *     connections have been closed
     * @throws TimeoutException      if the poller does not release a queue
     */
    public boolean run(final HotThreads threads, final boolean runToCompletion) throws TimeoutException {
        final RcConfig config = RemoteLink.config();
        try (RcPeer peer = api.ofLocal(host);
            RcListener listener = listen(peer);
            Pipeline pipeline = pipeline(threads, runToCompletion).start()) {
            say("the server listens on " + host + ", port " + listener.port());
            final long startNs = System.nanoTime();
            try {
                while (served == 0 || !clients.isEmpty()) {
                    if (served == 0 && System.nanoTime() - startNs > FIRST_CLIENT_NS) {
                        throw new IllegalStateException(
                            "no client connected within " + TimeUnit.NANOSECONDS.toSeconds(FIRST_CLIENT_NS) + " s");
                    }
                    listener.nextRequest(config, ACCEPT_TIMEOUT_MS).ifPresent(request -> accept(peer, request, pipeline));
                    releaseClients(pipeline);
                    HotThreads.requireSound(pipeline);
                }
            } finally {
                // Empty unless an exception was thrown.
                for (final ServedClient client : clients) {
                    client.close(pipeline);
                }
            }
        }
        say("the server ends after its last client");
        return !refused;
    }

    private static PipelineBuilder pipeline(final HotThreads threads, final boolean runToCompletion) {
        return runToCompletion ?
            threads.runToCompletion("bench-server", threads.cpus().poller(), ServedClient::handle, List.of()) :
            threads.pipeline(ServedClient::handle, List.of());
    }

    private RcListener listen(final RcPeer peer) {
        try {
            return peer.listen(host, port);
        } catch (final RdmaException failure) {
            if (failure.errno() == Errno.EADDRINUSE) {
                throw new IllegalStateException("port " + port + " of " + host + " is in use: choose another with --address " +
                    host + ":PORT", failure);
            }
            throw failure;
        }
    }

    private void accept(final RcPeer peer, final RcRequest request, final Pipeline pipeline) {
        try (request) {
            final ServedClient client = ServedClient.accept(peer, request, served + 1, pipeline);
            if (client == null) {
                say("a client has gone before it was accepted");
                return;
            }
            served++;
            clients.add(client);
        } catch (final IllegalArgumentException | RdmaException failure) {
            refused = true;
            say("a client was refused: " + failure.getMessage());
        }
    }

    private void releaseClients(final Pipeline pipeline) throws TimeoutException {
        for (final ServedClient client : List.copyOf(clients)) {
            client.readEvent(this::say);
            if (client.isOver()) {
                clients.remove(client);
                client.close(pipeline);
                say(client + (client.saidGoodbye() ? " is done" : " has gone without a goodbye"));
            }
        }
    }

    private void say(final String line) {
        progress.println(line);
        progress.flush();
    }
}
