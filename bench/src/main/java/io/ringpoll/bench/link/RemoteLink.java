package io.ringpoll.bench.link;

import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.rc.RcResource;
import io.ringpoll.internal.rc.RdmaApi;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The client end of a connection to a {@link RemoteServer} in another process. Used by the thread that measures. */
public final class RemoteLink implements Link {
    /** Receives that a server has posted when it accepts. */
    public static final int SERVER_RECEIVES = 2 * LinkEnd.DEPTH;
    /** Received messages for each report of a server that consumes. */
    public static final int CREDIT = 16;

    /** Offset, in the memory of the server, of the word that the last operation of a client sets to 1. */
    static final int GOODBYE_OFFSET = LinkEnd.MEMORY_BYTES;
    /** Length of the memory of the server. */
    static final int SERVER_BYTES = LinkEnd.MEMORY_BYTES + Long.BYTES;

    private static final int CLIENT_RECEIVES = SERVER_RECEIVES / CREDIT;
    private static final int CQ_SIZE = 4 * LinkEnd.DEPTH;
    private static final long GOODBYE_ID = -1;
    private static final long POLL_NS = TimeUnit.MICROSECONDS.toNanos(100);

    private final Deque<RcResource> opened = new ArrayDeque<>();
    private final String server;
    private final LinkEnd client;

    private RemoteLink(
        final RdmaApi api, final String host, final int port, final Purpose purpose, final boolean timestamps) {
        server = "the server at " + host + ", port " + port;
        boolean connected = false;
        try {
            final RcPeer peer = opened(api.ofRemote(host));
            final RcMemory memory = opened(peer.allocate(LinkEnd.MEMORY_BYTES, LinkEnd.usages()));
            final RcConnection connection;
            try (RcRequest request = peer.request(host, port, config().withTimestamps(timestamps))) {
                for (int i = 0; i < CLIENT_RECEIVES; i++) {
                    request.receive(memory, 0, LinkEnd.MEMORY_BYTES, 0);
                }
                connection = opened(request.connect(new Greeting(purpose, memory.descriptor()).encode()));
            }
            connection.awaitEstablished(LinkEnd.TIMEOUT_MS);
            final Greeting answer = Greeting.decode(connection.privateData());
            client = new LinkEnd(connection, memory, opened(peer.remote(answer.descriptor())));
            connected = true;
        } finally {
            if (!connected) {
                close();
            }
        }
    }

    /**
     * Connects.
     *
     * @param api     the binding that makes the connections
     * @param host    address of the server
     * @param port    port of the server
     * @param purpose the use of messages by the server
     * @return the connection, to be closed
     * @throws IllegalStateException if there is no such server
     */
    public static RemoteLink connect(final RdmaApi api, final String host, final int port, final Purpose purpose) {
        return connect(api, host, port, purpose, false);
    }

    /**
     * Connects.
     *
     * @param api        the binding that makes the connections
     * @param host       address of the server
     * @param port       port of the server
     * @param purpose    the use of messages by the server
     * @param timestamps whether the completions at this end have timestamps
     * @return the connection, to be closed
     * @throws IllegalStateException if there is no such server
     */
    public static RemoteLink connect(
        final RdmaApi api, final String host, final int port, final Purpose purpose, final boolean timestamps) {
        try {
            return new RemoteLink(api, host, port, purpose, timestamps);
        } catch (final RuntimeException failure) {
            throw new IllegalStateException("no connection to " + host + ", port " + port + " (is the server there?): " +
                failure.getMessage(), failure);
        }
    }

    /** Queue sizes of both ends: work requests in flight never overrun the completion queue. */
    static RcConfig config() {
        return RcConfig.of(LinkEnd.DEPTH, SERVER_RECEIVES, CQ_SIZE);
    }

    @Override
    public LinkEnd client() {
        return client;
    }

    @Override
    public List<LinkEnd> ends() {
        return List.of(client);
    }

    @Override
    public void check(final boolean failed) {
        if (client.connection().nextEvent(0).isPresent()) {
            throw new IllegalStateException(server + " has gone");
        }
        if (failed) {
            throw new IllegalStateException("an operation failed: the connection to " + server + " is broken");
        }
    }

    /**
     * Reports to the server that the measurement is complete, and disconnects. No pipeline polls the queue any more, and no
     * operation is in flight.
     *
     * @throws IllegalStateException if the server has gone
     */
    public void sayGoodbye() {
        client.memory().memory().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, 1);
        final boolean posted = client.connection()
            .write(client.peerMemory(), GOODBYE_OFFSET, client.memory(), 0, Long.BYTES, true, GOODBYE_ID);
        final WorkCompletions records = WorkCompletions.allocate(1);
        final WorkCompletion completion = new WorkCompletion();
        final long startNs = System.nanoTime();
        while (posted && System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(LinkEnd.TIMEOUT_MS)) {
            if (client.connection().completionQueue().poll(records, 0, 1) <= 0) {
                LockSupport.parkNanos(POLL_NS);
            } else if (records.show(0, completion).workRequestId() == GOODBYE_ID) {
                check(!completion.isSuccess());
                client.connection().disconnect();
                return;
            }
        }
        check(true);
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }

    private <T extends RcResource> T opened(final T resource) {
        opened.push(resource);
        return resource;
    }
}
