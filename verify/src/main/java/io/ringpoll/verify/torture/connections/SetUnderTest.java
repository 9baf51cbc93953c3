package io.ringpoll.verify.torture.connections;

import io.ringpoll.connections.ConnectionListener;
import io.ringpoll.connections.ConnectionSet;
import io.ringpoll.connections.ConnectionSetBuilder;
import io.ringpoll.connections.DisconnectReason;
import io.ringpoll.connections.MessageConnection;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.poller.EventDrivenIdle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.DirectBuffer;

/** A set of connections with its listener, and the counts that the model compares; any thread. */
final class SetUnderTest implements ConnectionListener {
    private static final long SPIN_NS = TimeUnit.MICROSECONDS.toNanos(20);
    /** After a lost wake-up a call takes too long: a sleep exceeds every time limit. */
    private static final long LONGEST_SLEEP_NS = TimeUnit.MINUTES.toNanos(10);
    /** A close with less time may be abrupt for the peers. */
    private static final long IN_ORDER_NS = TimeUnit.SECONDS.toNanos(20);

    /** Thrown by a task. */
    private static final class PlannedInTask extends Error {
        private static final long serialVersionUID = 1L;
    }

    private final World world;
    private final SetShape shape;
    private final String name;
    /** Null in a set that opens the device itself. */
    private final SharedMemory memory;
    private final AtomicLong thrown = new AtomicLong();
    private final AtomicLong accepted = new AtomicLong();
    private final AtomicLong executed = new AtomicLong();
    private final AtomicBoolean ends = new AtomicBoolean();
    private final Queue<Side> sides = new ConcurrentLinkedQueue<>();
    private volatile ConnectionSet set;
    private volatile boolean closing;
    private volatile boolean abrupt;
    private volatile boolean failing;

    SetUnderTest(final World world, final SetShape shape, final String name, final String address, final Path countersFolder) {
        this.world = world;
        this.shape = shape;
        this.name = name;
        memory = shape.ownPeer() ? SharedMemory.open(world.api(), address) : null;
        boolean started = false;
        try {
            set = describe(address, countersFolder).start();
            started = true;
        } finally {
            if (!started) {
                closePeer();
            }
        }
    }

    private ConnectionSetBuilder describe(final String address, final Path countersFolder) {
        final ConnectionSetBuilder builder = ConnectionSet.builder().name(name).listener(this).messagesInFlight(shape.window())
            .maxMessageBytes(shape.maxBytes()).maxConnections(shape.maxConnections()).pollers(shape.pollers())
            .privateData(name.getBytes(StandardCharsets.UTF_8)).pipelines(i -> pipeline(i, countersFolder));
        if (memory != null) {
            memory.describe(builder.operationsInFlight(shape.operations()));
        } else if (world.api() == RdmaApi.VERBS) {
            builder.address(address).overVerbs();
        } else {
            builder.address(address);
        }
        if (world.api() == RdmaApi.VERBS && shape.sharesQueue()) {
            builder.sharedCompletionQueue();
        }
        switch (shape.errors()) {
            case HANDLED -> builder.errorHandler(this::onError);
            case THROWN_AGAIN -> builder.errorHandler(failure -> {
                onError(failure);
                throw new PlannedInTask();
            });
            default -> {
                // Logged by the set.
            }
        }
        return builder;
    }

    private PipelineBuilder pipeline(final int index, final Path countersFolder) {
        final PipelineBuilder builder = Pipeline.builder().name(name + '-' + index).batchLimit(shape.batchLimit())
            .idleStrategy(shape.idle() == WaitMode.BLOCK ? new EventDrivenIdle(SPIN_NS, LONGEST_SLEEP_NS) :
                shape.idle().newIdleStrategy());
        return shape.countersFile() ? builder.countersFolder(countersFolder) : builder.withoutCountersFile();
    }

    /** Whether an exception was thrown by a callback, a task or the error handler of a scene. */
    static boolean isPlanned(final Throwable failure) {
        return failure instanceof Planned || failure instanceof PlannedInTask;
    }

    private void onError(final Throwable failure) {
        if (!isPlanned(failure)) {
            world.violations().unexpected("a callback or task of " + name, failure);
        }
    }

    SetShape shape() {
        return shape;
    }

    String name() {
        return name;
    }

    /** The memory for one-sided operations; null if the set has opened the device. */
    SharedMemory memory() {
        return memory;
    }

    ConnectionSet set() {
        return set;
    }

    /** The sides whose {@code onConnected} was called. */
    Queue<Side> sides() {
        return sides;
    }

    /** Whether the set was closed by a call, or by the end of a pipeline. */
    boolean isClosing() {
        return closing;
    }

    /** Whether the close may have cut off peers. */
    boolean isAbrupt() {
        return abrupt;
    }

    /** Whether a pipeline was closed, so that connections fail. */
    boolean isFailing() {
        return failing;
    }

    /** The exception that a callback throws now. */
    Planned planned() {
        thrown.incrementAndGet();
        return new Planned();
    }

    /** Executes a task on the polling thread of a connection; false if the set refuses it. */
    boolean execute(final MessageConnection connection, final Runnable task) {
        final boolean isAccepted = connection.execute(() -> {
            executed.incrementAndGet();
            task.run();
        });
        if (isAccepted) {
            accepted.incrementAndGet();
        }
        return isAccepted;
    }

    /** Executes a task that throws. */
    void executeThrowing(final MessageConnection connection) {
        execute(connection, () -> {
            thrown.incrementAndGet();
            throw new PlannedInTask();
        });
    }

    /** Closes the set with a time-out; as {@link ConnectionSet#close(long)}. */
    boolean close(final long timeoutNs) {
        abrupt |= timeoutNs < IN_ORDER_NS;
        closing = true;
        return set.close(timeoutNs);
    }

    /** Closes the pipeline of one thread, which ends the set. */
    void closePipeline() {
        failing = true;
        abrupt = true;
        closing = true;
        set.pipelines().getLast().close();
    }

    /** Makes the next callback close the set. */
    void endByCallback() {
        ends.set(true);
    }

    /** Closes the set from a callback if that has been planned. */
    void playEnd() {
        if (ends.get() && ends.compareAndSet(true, false)) {
            final boolean isAtOnce = (thrown.get() & 1) == 0;
            world.violations().expect(!close(isAtOnce ? 0 : 2 * IN_ORDER_NS), name + ": a close by a callback has returned true");
        }
    }

    /** The counts of the set after its close. */
    void check() {
        world.violations().expect(set.isClosed(), name + ": is not closed");
        world.violations().expect(set.connections() == 0, name + ": has " + set.connections() + " connections after its close");
        world.violations().expect(set.listenerExceptions() == thrown.get(),
            name + ": " + set.listenerExceptions() + " exceptions, and " + thrown + " were thrown");
        world.violations().expect(executed.get() == accepted.get(),
            name + ": " + executed + " tasks were executed, and " + accepted + " accepted");
    }

    void closePeer() {
        if (memory != null) {
            try {
                memory.close();
            } catch (final IllegalStateException inUse) {
                world.violations().add(name + ": " + inUse.getMessage());
            }
        }
    }

    @Override
    public void onConnected(final MessageConnection connection) throws Planned {
        world.violations().expect(connection.attachment() == null, name + ": onConnected twice of " + connection);
        final Side side = new Side(world, this, connection);
        connection.attach(side);
        world.sides().put(side.number(), side);
        sides.add(side);
        side.onConnected();
    }

    @Override
    public boolean onMessage(final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length)
        throws Planned {
        return side(connection, "onMessage").onMessage(buffer, offset, length);
    }

    @Override
    public void onDrained(final MessageConnection connection) throws Planned {
        side(connection, "onDrained").onDrained();
    }

    @Override
    public void onOperationCompleted(final MessageConnection connection, final long tag, final int status) throws Planned {
        side(connection, "onOperationCompleted").onOperationCompleted(tag, status);
    }

    @Override
    public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) throws Planned {
        side(connection, "onDisconnected").onDisconnected(reason);
    }

    private Side side(final MessageConnection connection, final String callback) {
        final Side side = (Side) connection.attachment();
        world.violations().expect(side != null, name + ": " + callback + " before onConnected of " + connection);
        return side;
    }
}
