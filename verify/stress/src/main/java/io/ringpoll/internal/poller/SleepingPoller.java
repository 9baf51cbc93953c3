package io.ringpoll.internal.poller;

import io.ringpoll.poller.EventDrivenIdle;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;

/** The event-driven strategy and the command queue of a poller without queues; bounds are far longer than any wake-up. */
final class SleepingPoller {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(15);
    private static final int LONGEST_SPINS = 8191;
    private static final int COUNTERS = 96;
    /** Shared by all pollers: the counts are not checked. */
    private static final PollerCounterSet IGNORED = new PollerCounterSet(
        new CountersManager(new UnsafeBuffer(new byte[COUNTERS * CountersReader.METADATA_LENGTH]),
            new UnsafeBuffer(new byte[COUNTERS * CountersReader.COUNTER_LENGTH])), "p");
    /** Any thread except the actors: a command of the polling thread itself would be executed immediately. */
    private static final Thread POLLING_THREAD = new Thread();

    final CommandQueue commands = new CommandQueue();
    private final EventSleeper idle = new EventSleeper(
        new EventDrivenIdle(0, BOUND_NS), new QueueRound(), commands, TimedWork.NONE, IGNORED, new PollTally(IGNORED));

    SleepingPoller() {
        commands.onStart(POLLING_THREAD);
    }

    /** Sleeps until a condition holds; false if that took as long as the bound of a sleep. */
    boolean sleepUntil(final BooleanSupplier condition) {
        final long startNs = System.nanoTime();
        idle.open();
        while (!condition.getAsBoolean()) {
            idle.idle();
        }
        final boolean inTime = System.nanoTime() - startNs < LONGEST_NS;
        idle.close();
        return inTime;
    }

    /** Spins for a time that differs between calls, around that of going to sleep. */
    static void dither() {
        for (long spins = System.nanoTime() & LONGEST_SPINS; spins > 0; spins--) {
            Thread.onSpinWait();
        }
    }
}
