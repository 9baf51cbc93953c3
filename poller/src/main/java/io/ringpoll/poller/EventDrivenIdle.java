package io.ringpoll.poller;

import io.ringpoll.os.DescriptorPoll;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.IdleStrategy;

/**
 * Sleeps until a completion comes: spins for a time, then has every queue asked for an event, lets all be polled once more, and
 * sleeps on their completion channels.
 *
 * <pre>
 *   work  -&gt; spin for spinNs -&gt; arm what is not armed -&gt; poll all -&gt; sleep -&gt; take events -&gt; work
 *                                       ^------ something new to arm -----|
 * </pre>
 *
 * <p>A completion that comes before a queue is armed is found by that last poll; one that comes after raises an event, and the
 * sleep ends at once. A sleep has a bound, also for queues that give no events: while one of them is in the round, the poller
 * looks at least each millisecond. Belongs to the polling thread of one poller, but for {@link #wakeUp()}.
 */
public final class EventDrivenIdle implements IdleStrategy {
    /** How long the poller spins before it sleeps, by default. */
    public static final long DEFAULT_SPIN_NS = TimeUnit.MICROSECONDS.toNanos(50);
    /** The bound of a sleep, by default. */
    public static final long DEFAULT_MAX_SLEEP_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final int SPINS_PER_CLOCK_READ = 16;
    private static final int SILENT_QUEUE_SLEEP_MS = 1;

    private final long spinNs;
    private final int maxSleepMs;
    private final Map<Integer, Integer> queuesByFd = new HashMap<>();
    private CommandQueue commands;
    private QueueRound round;
    private PollerCounters counters;
    private PollTally tally;

    private boolean spinning;
    private int spins;
    private long spinStartNs;
    private boolean wokenByEvent;
    private boolean hasSilentQueue;
    /** Null before the polling thread has started and after it has ended. */
    private DescriptorPoll descriptors;
    /** What {@link #wakeUp} ends: the descriptors while the poller sleeps on them, else null. */
    private volatile DescriptorPoll sleepingOn;

    /** Creates a strategy with the default times. */
    public EventDrivenIdle() {
        this(DEFAULT_SPIN_NS, DEFAULT_MAX_SLEEP_NS);
    }

    /**
     * Creates a strategy.
     *
     * @param spinNs     how long to spin before it sleeps, in nanoseconds
     * @param maxSleepNs bound of a sleep, in nanoseconds, rounded up to milliseconds
     * @throws IllegalArgumentException if one is negative, or the bound is 0
     */
    public EventDrivenIdle(final long spinNs, final long maxSleepNs) {
        if (spinNs < 0 || maxSleepNs < 1) {
            throw new IllegalArgumentException("spin time " + spinNs + " ns and bound of a sleep " + maxSleepNs + " ns");
        }
        this.spinNs = spinNs;
        this.maxSleepMs = (int) Math.min(Integer.MAX_VALUE, (maxSleepNs + 999_999) / 1_000_000);
    }

    /** Makes this the strategy of a poller; before any queue is added. */
    void attach(
        final QueueRound polled, final CommandQueue waking, final PollerCounters counting, final PollTally tallying) {
        if (round != null) {
            throw new IllegalStateException("an event-driven idle strategy belongs to one poller");
        }
        round = polled;
        commands = waking;
        counters = counting;
        tally = tallying;
        waking.wakeUpBy(this::wakeUp);
    }

    /**
     * Opens the descriptors; the polling thread has started.
     *
     * @throws io.ringpoll.os.OsException if the process has no file descriptor left
     */
    void open() {
        descriptors = new DescriptorPoll();
        queuesByFd.keySet().forEach(this::watch);
    }

    /** Takes a queue in that is polled from now on. */
    void onAdded(final PolledQueue polled) {
        if (polled.eventFd != PolledQueue.NO_EVENT_FD &&
            queuesByFd.merge(polled.eventFd, 1, Integer::sum) == 1 && descriptors != null) {
            watch(polled.eventFd);
        }
    }

    /** Lets a queue go that is polled no more. */
    void onRemoved(final PolledQueue polled) {
        if (polled.eventFd != PolledQueue.NO_EVENT_FD && queuesByFd.merge(polled.eventFd, -1, Integer::sum) == 0) {
            queuesByFd.remove(polled.eventFd);
            if (descriptors != null) {
                descriptors.remove(polled.eventFd);
            }
        }
    }

    /** Gives the descriptors back. */
    void close() {
        if (descriptors != null) {
            descriptors.close();
            descriptors = null;
        }
    }

    @Override
    public void idle(final int workCount) {
        if (workCount > 0) {
            reset();
        } else {
            idle();
        }
    }

    @Override
    public void idle() {
        if (wokenByEvent) {
            wokenByEvent = false;
            counters.spuriousWakeups.incrementRelease();
        }
        if (spinning) {
            spin();
        } else if (!armAll()) {
            sleep();
        }
    }

    @Override
    public void reset() {
        wokenByEvent = false;
        spinning = spinNs > 0;
        spins = 0;
    }

    @Override
    public String alias() {
        return "event-driven";
    }

    /** Ends the sleep that is under way; any thread. */
    void wakeUp() {
        final DescriptorPoll sleep = sleepingOn;
        if (sleep != null) {
            sleep.wakeUp();
        }
    }

    private void spin() {
        Thread.onSpinWait();
        if (spins == 0) {
            spinStartNs = System.nanoTime();
        }
        if (++spins % SPINS_PER_CLOCK_READ == 0 && System.nanoTime() - spinStartNs > spinNs) {
            spinning = false;
        }
    }

    /** Asks all queues for an event that owe none; false if there was nothing to ask for, so that all were polled since. */
    private boolean armAll() {
        boolean anyArmed = false;
        hasSilentQueue = false;
        for (int i = 0; i < round.size; i++) {
            final PolledQueue polled = round.queues[i];
            if (!(polled.queue instanceof final NotifyingQueue notifying)) {
                hasSilentQueue = true;
            } else if (!polled.armed) {
                anyArmed = true;
                arm(polled, notifying);
            }
        }
        return anyArmed;
    }

    private void arm(final PolledQueue polled, final NotifyingQueue notifying) {
        try {
            notifying.arm();
            polled.armed = true;
            counters.arms.incrementRelease();
        } catch (final RuntimeException failed) {
            polled.fail(QueueFault.NOTIFICATION_FAILED);
        }
    }

    private void sleep() {
        sleepingOn = descriptors;
        try {
            // After the store above: whoever submits a command either sees it and wakes the poller, or is seen here.
            if (!commands.isWakeUpDue()) {
                counters.sleeps.incrementRelease();
                tally.tell();
                round.sumBudgets(counters);
                final int ready = descriptors.await(hasSilentQueue ? SILENT_QUEUE_SLEEP_MS : maxSleepMs);
                if (ready == 0 && !descriptors.wasWokenUp()) {
                    counters.sleepTimeouts.incrementRelease();
                }
            }
        } finally {
            sleepingOn = null;
        }
    }

    private void watch(final int fd) {
        descriptors.add(fd, () -> takeEvents(fd));
    }

    /** Takes the events of a channel by a queue of it that is polled now: the one that came first may have left since. */
    private void takeEvents(final int fd) {
        int taken = 0;
        int faultCode = 0;
        boolean asked = false;
        for (int i = 0; i < round.size; i++) {
            final PolledQueue polled = round.queues[i];
            if (polled.eventFd == fd) {
                if (!asked) {
                    asked = true;
                    try {
                        taken = ((NotifyingQueue) polled.queue).takeEvents();
                    } catch (final RuntimeException failed) {
                        faultCode = QueueFault.NOTIFICATION_FAILED;
                    }
                }
                polled.armed = false;
                if (faultCode != 0) {
                    polled.fail(faultCode);
                }
            }
        }
        counters.events.getAndAddRelease(taken);
        wokenByEvent = taken > 0;
        spinning = spinNs > 0;
        spins = 0;
    }
}
