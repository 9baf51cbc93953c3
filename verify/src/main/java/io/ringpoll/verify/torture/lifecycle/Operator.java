package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A caller of public methods in random order: a thread of the scene, or a handler during a completion.
 *
 * <p>Each operator has its own random numbers, so that its calls are the same in each replay. Used by one thread.
 */
final class Operator {
    private static final boolean IS_FAST = Device.current().kind() == DeviceKind.LOOPBACK;
    /** On an emulated CPU a first call takes half a minute. */
    private static final long GRACE_NS = TimeUnit.SECONDS.toNanos(IS_FAST ? 15 : 120);
    /** For calls with a time-out that the caller does not choose. */
    static final long PATIENCE_NS = IS_FAST ? 0 : GRACE_NS;
    private static final long[] TIMEOUTS_NS = {0, 0, 1, 1_000, 100_000, 1_000_000, 20_000_000};
    private static final int SHORT_TIMEOUTS = 6;

    private final World world;
    private final SplittableRandom random;
    /** The pipeline of this handler; null for a thread of the scene. */
    private final PipelineUnderTest home;
    private long calls;

    Operator(final World world, final SplittableRandom random, final PipelineUnderTest home) {
        this.world = world;
        this.random = random;
        this.home = home;
    }

    World world() {
        return world;
    }

    SplittableRandom random() {
        return random;
    }

    boolean isHandler() {
        return home != null;
    }

    PipelineUnderTest home() {
        return home;
    }

    /** Makes one call. */
    void call() {
        final Action action = Action.draw(random);
        if (!world.isRunning() || isHandler() && !action.isForHandlers()) {
            return;
        }
        calls++;
        try {
            action.perform(this);
        } catch (final Throwable unexpected) {
            world.violations().unexpected(action + (isHandler() ? " by a handler" : ""), unexpected);
        }
        if (!isHandler()) {
            // From a call of another operator; the next call starts without it.
            Thread.interrupted();
        }
    }

    long calls() {
        return calls;
    }

    PipelineUnderTest anyPipeline() {
        return world.pipelines().get(random.nextInt(world.pipelines().size()));
    }

    TorturedQueue anyQueue() {
        return world.queues().get(random.nextInt(world.queues().size()));
    }

    long anyTimeoutNs() {
        return TIMEOUTS_NS[random.nextInt(isHandler() ? SHORT_TIMEOUTS : TIMEOUTS_NS.length)];
    }

    /** A call with a bound of its own. */
    @FunctionalInterface
    interface BoundedCall {
        void run() throws TimeoutException;
    }

    /** Repeats a call whose time-out may be too short for an emulated CPU. */
    static void untilInTime(final long patienceNs, final BoundedCall call) throws TimeoutException {
        final long startNs = System.nanoTime();
        while (true) {
            try {
                call.run();
                return;
            } catch (final TimeoutException late) {
                if (System.nanoTime() - startNs >= patienceNs) {
                    throw late;
                }
            }
        }
    }

    /** Makes a bounded call, and checks its duration. */
    void within(final long boundNs, final String what, final Runnable call) {
        final long startNs = System.nanoTime();
        call.run();
        final long tookNs = System.nanoTime() - startNs;
        world.violations().expect(tookNs - boundNs < GRACE_NS, what + " with a bound of " + boundNs + " ns took " +
            TimeUnit.NANOSECONDS.toMillis(tookNs) + " ms");
    }
}
