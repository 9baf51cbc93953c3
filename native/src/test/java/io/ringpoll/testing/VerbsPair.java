package io.ringpoll.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.verbs.AccessFlag;
import io.ringpoll.verbs.ConnectionEvent;
import io.ringpoll.verbs.ConnectionEventType;
import io.ringpoll.verbs.ConnectionId;
import io.ringpoll.verbs.ConnectionParameters;
import io.ringpoll.verbs.Listener;
import io.ringpoll.verbs.MemoryRegion;
import io.ringpoll.verbs.ProtectionDomain;
import io.ringpoll.verbs.QueuePair;
import io.ringpoll.verbs.QueuePairAttributes;
import io.ringpoll.verbs.ReceiveList;
import io.ringpoll.verbs.SendList;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/** Two connected queue pairs in one process, in one protection domain. Objects that it makes are closed with it. */
public final class VerbsPair implements AutoCloseable {
    public static final int TIMEOUT_MS = ConnectedPair.TIMEOUT_MS;
    private static final int DEPTH = 64;
    public static final AccessFlag[] ALL = {
        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC};

    /** Whether the completion queues have timestamps. */
    private final boolean timestamps;
    private final Deque<NativeResource> closeables = new ArrayDeque<>();
    private final Completions completions = new Completions();
    private final ConnectionId clientId;
    private final ConnectionId serverId;
    private final ProtectionDomain domain;
    private final QueuePair client;
    private final QueuePair server;

    private VerbsPair(
        final Consumer<QueuePairAttributes> attributes, final ConnectionParameters parameters, final boolean timestamps) {
        this.timestamps = timestamps;
        try (Listener listener = Listener.listen(anyAddress(), 4)) {
            clientId = closed(ConnectionId.resolve(at(listener), TIMEOUT_MS));
            final VerbsContext context = clientId.context();
            domain = closed(ProtectionDomain.create(context));
            client = queuePair(clientId, attributes);
            clientId.connect(parameters);
            serverId = closed(listener.nextRequest(TIMEOUT_MS).orElseThrow());
            server = queuePair(serverId, attributes);
            serverId.accept(parameters);
            // In this order: the client's library answers the server's acceptance when its event is fetched.
            await(clientId, ConnectionEventType.ESTABLISHED);
            await(serverId, ConnectionEventType.ESTABLISHED);
        }
    }

    /** Connects with default attributes. */
    public static VerbsPair ofDefaults() {
        return of(attributes -> { });
    }

    /** Connects with changed attributes of both queue pairs. */
    public static VerbsPair of(final Consumer<QueuePairAttributes> attributes) {
        return of(attributes, ConnectionParameters.create());
    }

    /** Connects with changed attributes, and parameters for both sides. */
    public static VerbsPair of(final Consumer<QueuePairAttributes> attributes, final ConnectionParameters parameters) {
        return new VerbsPair(attributes, parameters, false);
    }

    /** Connects with default attributes and completion queues with timestamps, which the device must offer. */
    public static VerbsPair withTimestamps() {
        return new VerbsPair(attributes -> { }, ConnectionParameters.create(), true);
    }

    private QueuePair queuePair(final ConnectionId id, final Consumer<QueuePairAttributes> attributes) {
        final VerbsCompletionQueue sends = queue(id.context(), "sends of " + id.name());
        final VerbsCompletionQueue receives = queue(id.context(), "receives of " + id.name());
        final QueuePairAttributes described = QueuePairAttributes.create(sends, receives);
        attributes.accept(described);
        return closed(id.createQueuePair(domain, described));
    }

    private VerbsCompletionQueue queue(final VerbsContext context, final String name) {
        return closed(timestamps ? VerbsCompletionQueue.createWithTimestamps(context, name, DEPTH, null) :
            VerbsCompletionQueue.create(context, name, DEPTH, null));
    }

    /** The device's address. */
    public static InetAddress address() {
        try {
            return InetAddress.getByName(TestDevice.address());
        } catch (final UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The device's address with any free port. */
    public static InetSocketAddress anyAddress() {
        return new InetSocketAddress(address(), 0);
    }

    /** Where a listener listens. */
    public static InetSocketAddress at(final Listener listener) {
        return new InetSocketAddress(address(), listener.port());
    }

    /** Waits for the next event, which must be of a type. */
    public static ConnectionEvent await(final ConnectionId id, final ConnectionEventType type) {
        final ConnectionEvent event = id.nextEvent(TIMEOUT_MS).orElseThrow();
        assertEquals(type, event.type(), event::toString);
        return event;
    }

    public ConnectionId clientId() {
        return clientId;
    }

    public ConnectionId serverId() {
        return serverId;
    }

    public ProtectionDomain domain() {
        return domain;
    }

    public QueuePair client() {
        return client;
    }

    public QueuePair server() {
        return server;
    }

    /** Memory in the pair's domain. */
    public MemoryRegion memory(final long lengthBytes, final AccessFlag... flags) {
        return closed(domain.allocate(lengthBytes, flags));
    }

    /** A list of one request with one element, a piece of a region. */
    public SendList one(final MemoryRegion region, final long offset, final long lengthBytes) {
        final SendList list = closed(SendList.allocate(1, 1));
        list.elements(0, region);
        list.element(0, 0, offset, lengthBytes);
        return list;
    }

    /** Receives into the begin of a region, numbered from 0. */
    public ReceiveList receives(final int count, final MemoryRegion region, final long lengthBytes) {
        final ReceiveList list = closed(ReceiveList.allocate(count, 1));
        for (int i = 0; i < count; i++) {
            list.elements(i, region);
            list.element(i, 0, 0, lengthBytes);
            list.workRequestId(i, i);
        }
        return list;
    }

    /** The next completion of a queue, valid until the next call. */
    public WorkCompletion next(final VerbsCompletionQueue queue) {
        return completions.awaitOne(queue);
    }

    /** The next completion of a queue, which must be a success. */
    public WorkCompletion nextSuccess(final VerbsCompletionQueue queue) {
        final WorkCompletion completion = next(queue);
        assertEquals(WcStatus.SUCCESS, completion.status(), completion::toString);
        return completion;
    }

    /** Fails if a queue has a completion. */
    public void assertEmpty(final VerbsCompletionQueue queue) {
        assertEquals(0, queue.poll(completions.records(), 0, 1));
    }

    /** Posts a receive. */
    public void receive(final QueuePair queuePair, final MemoryRegion region, final long lengthBytes) {
        final ReceiveList list = receives(1, region, lengthBytes);
        assertEquals(1, queuePair.postReceive(list));
    }

    /** Closes an object with the pair, before those that were registered earlier. */
    public <T extends NativeResource> T closed(final T closeable) {
        closeables.push(closeable);
        return closeable;
    }

    @Override
    public void close() {
        while (!closeables.isEmpty()) {
            closeables.pop().close();
        }
    }
}
