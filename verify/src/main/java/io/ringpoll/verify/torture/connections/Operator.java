package io.ringpoll.verify.torture.connections;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.connections.MessageConnection;
import io.ringpoll.os.WaitInterruptedException;
import java.net.ConnectException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;

/** A thread of a scene that requests, uses and closes connections. */
final class Operator implements Runnable {
    private static final long CONNECT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final int INTERRUPTED_ONE_IN = 200;
    private static final int TASK_ONE_IN = 4;
    private static final int LOOK_ONE_IN = 8;

    private final World world;
    private final ConnectionShape shape;
    private final SetUnderTest server;
    private final List<SetUnderTest> clients;
    private final String address;
    private final int port;
    /** A port without a server that answers. */
    private final int silentPort;
    private final AtomicInteger left;
    private final SplittableRandom random;
    private final Deque<Side> open = new ArrayDeque<>();
    private volatile int calls;

    Operator(final World world, final SetUnderTest server, final List<SetUnderTest> clients, final String address, final int port,
        final int silentPort, final AtomicInteger left, final SplittableRandom random) {
        this.world = world;
        this.shape = world.shape();
        this.server = server;
        this.clients = clients;
        this.address = address;
        this.port = port;
        this.silentPort = silentPort;
        this.left = left;
        this.random = random;
    }

    /** Number of requested connections. */
    int calls() {
        return calls;
    }

    @Override
    public void run() {
        try {
            while (left.getAndDecrement() > 0) {
                calls++;
                connect(clients.get(random.nextInt(clients.size())));
                if (open.size() > Math.max(1, shape.open() / shape.operators())) {
                    open.removeFirst().close();
                }
                if (random.nextInt(TASK_ONE_IN) == 0 && !open.isEmpty()) {
                    use(open.peekLast());
                }
                if (shape.abrupt() > 0 && random.nextInt(shape.abrupt()) == 0) {
                    closeAny();
                }
            }
        } catch (final RuntimeException | Error thrown) {
            world.violations().unexpected(Thread.currentThread().getName(), thrown);
        }
    }

    private void connect(final SetUnderTest client) {
        final boolean isShort = shape.abrupt() > 0 && random.nextInt(shape.abrupt()) == 0;
        final boolean isSilent = isShort && random.nextBoolean();
        final boolean isInterrupted = random.nextInt(INTERRUPTED_ONE_IN) == 0;
        final long timeoutNs = !isShort ? CONNECT_NS : random.nextInt(3) == 0 ? 0 : random.nextLong(SHORT_NS);
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
        try {
            final MessageConnection connection = client.set().connect(address, isSilent ? silentPort : port, timeoutNs);
            final Side side = (Side) connection.attachment();
            world.violations().expect(!isSilent, "a connection to a silent port: " + connection);
            world.violations().expect(side != null && side.isConnectedReturned(),
                client.name() + ": connect has returned " + connection + " before onConnected has");
            if (side != null) {
                open.addLast(side);
            }
        } catch (final ConnectException refused) {
            world.violations().expect(isShort || shape.plan().isPresent() || server.isClosing() || client.isClosing() ||
                shape.server().maxConnections() < shape.connections() + shape.vanishing(), client.name() + ": " + refused);
        } catch (final WaitInterruptedException interrupted) {
            world.violations().expect(isInterrupted, client.name() + ": interrupted: " + interrupted);
        } catch (final IllegalStateException refused) {
            world.violations().expect(client.isClosing() || client.shape().maxConnections() < shape.connections() &&
                refused.getMessage().contains("maximum"), client.name() + ": " + refused);
        } finally {
            Thread.interrupted();
        }
    }

    private void use(final Side side) {
        side.execute(side::sendRest);
        if (random.nextInt(LOOK_ONE_IN) == 0) {
            look(side.connection());
        }
        if (shape.throwing() > 0 && random.nextInt(TASK_ONE_IN) == 0) {
            side.set().executeThrowing(side.connection());
        }
    }

    /** Reads properties on a foreign thread, and calls what is refused there. */
    private void look(final MessageConnection connection) {
        world.violations().expect(!connection.toString().isEmpty() && connection.maxMessageBytes() > 0 &&
            connection.peerData().length > 0, "the properties of " + connection);
        try {
            final boolean isSent = connection.trySend(new UnsafeBuffer(new byte[1]), 0, 1);
            // After the end of the set a send is refused by its result.
            world.violations().expect(!isSent && !connection.isConnected(), "a send on a foreign thread over " + connection);
        } catch (final IllegalStateException refused) {
            // Documented.
        }
    }

    private void closeAny() {
        final List<Side> sides = List.copyOf((random.nextBoolean() ? server : clients.getFirst()).sides());
        if (!sides.isEmpty()) {
            sides.get(random.nextInt(sides.size())).close();
        }
    }

    /** A peer that ends without a goodbye. */
    void vanish() {
        try (VanishingPeer peer = new VanishingPeer(world.api(), address)) {
            peer.play(address, port, random);
        } catch (final RdmaException | IllegalStateException failed) {
            world.violations().expect(shape.plan().isPresent() || server.isClosing(), "a vanishing peer: " + failed);
        }
    }
}
