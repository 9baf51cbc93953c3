package io.ringpoll.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * An established client and server connection in one process, each with a peer.
 *
 * <p>Objects that are created through it are closed with it, in reverse order.
 */
public final class ConnectedPair implements AutoCloseable {
    /** Long enough for a slow machine under load; a test that waits so long has failed. */
    public static final int TIMEOUT_MS = 40_000;

    /** Below the ports of clients, of the system and of the loopback device: from 32,768 on. */
    private static final int FIRST_PORT = 10_000;
    private static final int PORTS = 22_000;
    private static final AtomicInteger NEXT_PORT = new AtomicInteger(ThreadLocalRandom.current().nextInt(PORTS));

    private final Deque<NativeResource> closeables = new ArrayDeque<>();
    private final Peer peer;
    private final Connection client;
    private final Connection server;

    private ConnectedPair(final Consumer<ConnectionConfig> clientConfig, final Consumer<ConnectionConfig> serverConfig) {
        peer = closed(Peer.ofLocal(TestDevice.address()));
        final String port = anyPort();
        try (Endpoint endpoint = peer.listen(TestDevice.address(), port); ConnectionConfig config = ConnectionConfig.create();
            ConnectionConfig other = ConnectionConfig.create()) {
            clientConfig.accept(config);
            serverConfig.accept(other);
            client = closed(peer.request(TestDevice.address(), port, config).connect());
            final ConnectionRequest request = endpoint.nextRequest(other, TIMEOUT_MS).orElseThrow();
            server = closed(request.connect());
            // In this order: the client's library answers the server's acceptance when its event is fetched.
            assertEquals(Optional.of(ConnectionEvent.ESTABLISHED), client.nextEvent(TIMEOUT_MS));
            assertEquals(Optional.of(ConnectionEvent.ESTABLISHED), server.nextEvent(TIMEOUT_MS));
        }
    }

    /** Connects with a configuration on both sides. */
    public static ConnectedPair of(final Consumer<ConnectionConfig> config) {
        return new ConnectedPair(config, config);
    }

    /** Connects with a configuration on each side. */
    public static ConnectedPair of(final Consumer<ConnectionConfig> client, final Consumer<ConnectionConfig> server) {
        return new ConnectedPair(client, server);
    }

    /** Connects with the default configuration. */
    public static ConnectedPair ofDefaults() {
        return of(config -> { });
    }

    /**
     * A port that no other call in this process gets and no client has, so on the loopback device it is free.
     *
     * <p>Each process starts at a random port, because processes share the ports of a real device.
     */
    public static String anyPort() {
        return Integer.toString(FIRST_PORT + NEXT_PORT.getAndIncrement() % PORTS);
    }

    public Peer peer() {
        return peer;
    }

    public Connection client() {
        return client;
    }

    public Connection server() {
        return server;
    }

    /** Memory that is registered for everything, and closed with the pair. */
    public LocalMemoryRegion memory(final long lengthBytes) {
        return memory(lengthBytes, MemoryUsage.values());
    }

    /** Memory that is registered for some usages, and closed with the pair. */
    public LocalMemoryRegion memory(final long lengthBytes, final MemoryUsage... usages) {
        return closed(peer.allocate(lengthBytes, usages));
    }

    /** The remote memory region of a local one; closed with the pair. */
    public RemoteMemoryRegion remote(final LocalMemoryRegion region) {
        return closed(RemoteMemoryRegion.ofDescriptor(region.descriptor()));
    }

    /** Closes an object with the pair, before the objects that were registered earlier. */
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
