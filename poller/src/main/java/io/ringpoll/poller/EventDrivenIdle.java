package io.ringpoll.poller;

import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.IdleStrategy;

/**
 * Sleeps on completion channels while all queues are empty: spins for a time and yields its core to other threads meanwhile,
 * requests an event from every queue, polls once more, then sleeps until a completion event.
 *
 * <p>The time of a spin is 50 us. It grows while sleeps end within the longest time of a spin, so a poller spins from one
 * completion to the next if they come that often; it shrinks while they take longer. It does not spin at all where its yields
 * take long, because other threads compute on its core.
 *
 * <p>A completion that arrives before its queue is armed is found by the additional poll; a later one raises an event and ends
 * the sleep. Every sleep has a time-out. It is one millisecond while the round contains a queue without events.
 *
 * <p>Immutable: it holds the times only, and each poller that uses it sleeps on its own. It cannot idle without a poller.
 */
public final class EventDrivenIdle implements IdleStrategy {
    /** Default of the longest time to spin before a sleep, in nanoseconds. */
    public static final long DEFAULT_SPIN_NS = TimeUnit.MICROSECONDS.toNanos(500);
    /** Default time-out of a sleep, in nanoseconds. */
    public static final long DEFAULT_MAX_SLEEP_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final long spinNs;
    private final long maxSleepNs;

    /** Creates a strategy with the default times. */
    public EventDrivenIdle() {
        this(DEFAULT_SPIN_NS, DEFAULT_MAX_SLEEP_NS);
    }

    /**
     * Creates a strategy.
     *
     * @param spinNs     longest time to spin before a sleep, in nanoseconds; 0: no spin
     * @param maxSleepNs time-out of a sleep, in nanoseconds, rounded up to milliseconds
     * @throws IllegalArgumentException if {@code spinNs} is negative or {@code maxSleepNs} is less than 1
     */
    public EventDrivenIdle(final long spinNs, final long maxSleepNs) {
        if (spinNs < 0 || maxSleepNs < 1) {
            throw new IllegalArgumentException("spin time " + spinNs + " ns is negative, or sleep time-out " + maxSleepNs +
                " ns is less than 1");
        }
        this.spinNs = spinNs;
        this.maxSleepNs = maxSleepNs;
    }

    /**
     * Longest time to spin before a sleep.
     *
     * @return nanoseconds
     */
    public long spinNs() {
        return spinNs;
    }

    /**
     * Time-out of a sleep.
     *
     * @return nanoseconds
     */
    public long maxSleepNs() {
        return maxSleepNs;
    }

    /**
     * Not for use without a poller.
     *
     * @throws IllegalStateException always: only a poller has the queues to sleep on
     */
    @Override
    public void idle(final int workCount) {
        idle();
    }

    /**
     * Not for use without a poller.
     *
     * @throws IllegalStateException always: only a poller has the queues to sleep on
     */
    @Override
    public void idle() {
        throw new IllegalStateException("an event-driven idle strategy has no queues to sleep on: give it to a pipeline");
    }

    /** Has no effect. */
    @Override
    public void reset() {
        // The poller has the state.
    }

    @Override
    public String alias() {
        return "event-driven";
    }
}
