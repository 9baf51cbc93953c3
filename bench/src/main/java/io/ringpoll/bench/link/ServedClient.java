package io.ringpoll.bench.link;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.RdmaException;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcEvent;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.rc.RcResource;
import io.ringpoll.os.Errno;
import io.ringpoll.pipeline.Pipeline;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * A client of a {@link RemoteServer}: the attachment of its completion queue.
 *
 * <p>{@link #onCompletion} is called by the handler thread, which owns the count; all else by the thread of the server.
 */
final class ServedClient {
    private static final long ESTABLISHED_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long RELEASE_NS = TimeUnit.SECONDS.toNanos(30);

    private final int number;
    private final Purpose purpose;
    private final LinkEnd end;
    private final long acceptedNs = System.nanoTime();
    private boolean established;
    private boolean over;
    private boolean goodbye;
    private volatile boolean failed;
    /** Owned by the handler thread. */
    private long received;

    private ServedClient(final int number, final Purpose purpose, final LinkEnd end) {
        this.number = number;
        this.purpose = purpose;
        this.end = end;
    }

    /**
     * Accepts a client and lets the pipeline poll its queue.
     *
     * @return null if the client has gone meanwhile
     * @throws IllegalArgumentException if the request is not that of a client
     */
    static ServedClient accept(final RcPeer peer, final RcRequest request, final int number, final Pipeline pipeline) {
        final Greeting greeting = Greeting.decode(request.privateData());
        RcMemory memory = null;
        RcRemoteMemory clientMemory = null;
        RcConnection connection = null;
        boolean accepted = false;
        try {
            clientMemory = peer.remote(greeting.descriptor());
            memory = peer.allocate(RemoteLink.SERVER_BYTES, LinkEnd.usages());
            for (int i = 0; i < RemoteLink.SERVER_RECEIVES; i++) {
                request.receive(memory, 0, LinkEnd.MEMORY_BYTES, 0);
            }
            connection = connect(request, new Greeting(greeting.purpose(), memory.descriptor()));
            if (connection == null) {
                return null;
            }
            final ServedClient client =
                new ServedClient(number, greeting.purpose(), new LinkEnd(connection, memory, clientMemory));
            pipeline.addQueue(connection.completionQueue(), client);
            accepted = true;
            return client;
        } finally {
            if (!accepted) {
                close(connection);
                close(clientMemory);
                close(memory);
            }
        }
    }

    private static RcConnection connect(final RcRequest request, final Greeting answer) {
        try {
            return request.connect(answer.encode());
        } catch (final RdmaException refused) {
            if (refused.errno() == Errno.EINVAL) {
                // The connection manager's answer to the acceptance of a client that is no longer there.
                return null;
            }
            throw refused;
        }
    }

    /** Handles a completion of a client's queue. */
    static void handle(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        ((ServedClient) completion.attachment()).onCompletion(completion);
    }

    private void onCompletion(final WorkCompletion completion) {
        final CompletionPath path = completion.path();
        if (path == CompletionPath.ERROR) {
            failed = true;
        } else if (path == CompletionPath.RECEIVE && !(end.receive() && respond(completion))) {
            failed = true;
        }
    }

    /** After the receive was posted again: a client that has a response may post a message. */
    private boolean respond(final WorkCompletion completion) {
        if (purpose == Purpose.ANSWER) {
            return end.postMessage(completion.opcode() == WcOpcode.RECV_RDMA_WITH_IMM ? Traffic.Operation.WRITE :
                Traffic.Operation.SEND, completion.lengthBytes());
        }
        received++;
        return received % RemoteLink.CREDIT != 0 || end.postMessage(Traffic.Operation.SEND, 1);
    }

    /** Reads an event of the connection, and reports the first one. */
    void readEvent(final Consumer<String> progress) {
        final Optional<RcEvent> event = end.connection().nextEvent(0);
        if (!established && event.equals(Optional.of(RcEvent.ESTABLISHED))) {
            established = true;
            progress.accept(this + " has connected");
        } else {
            over = event.isPresent();
        }
    }

    /** Whether the client has disconnected or gone, or its connection is broken. */
    boolean isOver() {
        return over || failed || !established && System.nanoTime() - acceptedNs > ESTABLISHED_NS;
    }

    /** Releases everything. */
    void close(final Pipeline pipeline) throws TimeoutException {
        pipeline.removeQueue(end.connection().completionQueue(), RELEASE_NS);
        goodbye = end.memory().memory().get(ValueLayout.JAVA_LONG_UNALIGNED, RemoteLink.GOODBYE_OFFSET) != 0;
        if (established) {
            end.connection().disconnect();
        }
        end.connection().close();
        end.peerMemory().close();
        end.memory().close();
    }

    /** Whether the client has completed its measurement; valid after {@link #close}. */
    boolean saidGoodbye() {
        return goodbye;
    }

    @Override
    public String toString() {
        return "client " + number;
    }

    private static void close(final RcResource resource) {
        if (resource != null) {
            resource.close();
        }
    }
}
