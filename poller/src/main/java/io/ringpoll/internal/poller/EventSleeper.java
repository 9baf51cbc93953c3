package io.ringpoll.internal.poller;

import io.ringpoll.os.DescriptorPoll;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.poller.NotifyingQueue;
import io.ringpoll.poller.QueueFault;
import java.util.HashMap;
import java.util.Map;
import org.agrona.concurrent.IdleStrategy;

/**
 * Sleeps on completion channels while all queues are empty: spins for a time and yields its core meanwhile, arms every queue,
 * polls once more, then sleeps until a completion event.
 * <pre>
 *   work  -&gt; spin for a time -&gt; arm queues -&gt; poll all queues -&gt; sleep -&gt; read events -&gt; work
 *                                   ^----- another queue to arm -----|
 * </pre>
 *
 * <p>It spins longer where completions come often ({@link SpinTime}), and not at all where threads that compute need the core
 * ({@link CoreContention}).
 *
 * <p>A completion that arrives before its queue is armed is found by the additional poll; a later one raises an event and ends
 * the sleep. Every sleep has a time-out: it ends when {@link TimedWork} is due, and after one millisecond while the round
 * contains a queue without events. Belongs to the polling thread of one poller, except {@link #wakeUp()}.
 */
final class EventSleeper implements IdleStrategy {
    /** A thread with work for this poller may wait for its core. */
    private static final int SPINS_PER_YIELD = 4;
    private static final int SILENT_QUEUE_SLEEP_MS = 1;
    private static final long NS_PER_MS = 1_000_000;

    private final int maxSleepMs;
    private final Map<Integer, Integer> queuesByFd = new HashMap<>();
    private final CommandQueue commands;
    private final TimedWork timedWork;
    private final QueueRound round;
    private final PollerCounterSet counters;
    private final PollTally tally;

    private SpinTime spinTime;
    private CoreContention contention = new CoreContention(CoreContention.LONG_YIELD_NS);
    private boolean spinning;
    private int spins;
    private long spinStartNs;
    private boolean wokenByEvent;
    private boolean hasSilentQueue;
    /** Null unless the polling thread is running. */
    private DescriptorPoll descriptors;
    /** The descriptors during a sleep, otherwise null; read by {@link #wakeUp}. */
    private volatile DescriptorPoll sleepingOn;

    /**
     * Creates the sleeper of one poller.
     *
     * @param idle     the times
     * @param round    of the poller
     * @param commands of the poller; a command ends a sleep
     * @param timed    of the poller's handlers; a sleep ends when it is due
     * @param counters of the poller
     * @param tally    of the poller; flushed before each sleep
     */
    EventSleeper(final EventDrivenIdle idle, final QueueRound round, final CommandQueue commands, final TimedWork timed,
        final PollerCounterSet counters, final PollTally tally) {
        this.spinTime = SpinTime.upTo(idle.spinNs());
        this.maxSleepMs = milliseconds(idle.maxSleepNs());
        this.round = round;
        this.commands = commands;
        this.timedWork = timed;
        this.counters = counters;
        this.tally = tally;
        commands.onWakeUp(this::wakeUp);
    }

    /** Replaces the state of the core's contention; before the start. */
    void contention(final CoreContention other) {
        contention = other;
    }

    /** Replaces the time of a spin; before the start. */
    void spinTime(final SpinTime other) {
        spinTime = other;
    }

    /** Rounds a positive time up to milliseconds, of which a sleep has at most {@link Integer#MAX_VALUE}. */
    static int milliseconds(final long ns) {
        return (int) Math.min(Integer.MAX_VALUE, (ns - 1) / NS_PER_MS + 1);
    }

    /**
     * Opens the descriptors; called on the polling thread at its start.
     *
     * @throws io.ringpoll.os.OsException if the process has no free file descriptor
     */
    void open() {
        descriptors = new DescriptorPoll();
        queuesByFd.keySet().forEach(this::watch);
    }

    /** Watches the channel of a queue that joins the round. */
    void onAdded(final PolledQueue polled) {
        if (polled.eventFd != PolledQueue.NO_EVENT_FD &&
            queuesByFd.merge(polled.eventFd, 1, Integer::sum) == 1 && descriptors != null) {
            watch(polled.eventFd);
        }
    }

    /** Stops watching the channel of a queue that has left the round, unless another queue shares it. */
    void onRemoved(final PolledQueue polled) {
        if (polled.eventFd != PolledQueue.NO_EVENT_FD && queuesByFd.merge(polled.eventFd, -1, Integer::sum) == 0) {
            queuesByFd.remove(polled.eventFd);
            if (descriptors != null) {
                descriptors.remove(polled.eventFd);
            }
        }
    }

    /** Closes the descriptors. */
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
        if (spinning && (spins > 0 || contention.spins())) {
            spin();
            return;
        }
        spinning = false;
        spinTime.onSleep();
        if (!armAll()) {
            sleep();
        }
    }

    @Override
    public void reset() {
        wokenByEvent = false;
        spinTime.onWork();
        spinning = spinTime.ns() > 0;
        spins = 0;
    }

    @Override
    public String alias() {
        return "event-driven";
    }

    /** Ends a sleep in progress; any thread. */
    void wakeUp() {
        final DescriptorPoll sleep = sleepingOn;
        if (sleep != null) {
            sleep.wakeUp();
        }
    }

    private void spin() {
        if (spins == 0) {
            spinStartNs = spinTime.onSpin();
        }
        spins++;
        if (spins % SPINS_PER_YIELD != 0) {
            Thread.onSpinWait();
            return;
        }
        final long beforeNs = System.nanoTime();
        Thread.yield();
        final long nowNs = System.nanoTime();
        if (contention.onYield(nowNs - beforeNs) || nowNs - spinStartNs > spinTime.ns()) {
            spinning = false;
        }
    }

    /** Arms the queues that are not armed. Returns false if all were armed before, and so have been polled since. */
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
        // An error of the counters is not one of the queue.
        MemoryFault.check();
        try {
            notifying.arm();
        } catch (final Throwable failed) {
            polled.fail(QueueFault.NOTIFICATION_FAILED);
            return;
        }
        polled.armed = true;
        counters.arms.incrementRelease();
    }

    private void sleep() {
        final int limitMs = limitMs();
        if (limitMs == 0) {
            return;
        }
        sleepingOn = descriptors;
        try {
            // After the volatile store above: either the submitting thread sees it and wakes the poller, or its command is seen
            // here.
            if (!commands.isWakeUpDue()) {
                counters.sleeps.incrementRelease();
                tally.flush();
                round.sumBudgets(counters);
                final int ready = descriptors.await(limitMs);
                if (ready == 0 && !descriptors.wasWokenUp()) {
                    counters.sleepTimeouts.incrementRelease();
                }
            }
        } finally {
            sleepingOn = null;
        }
    }

    /** Maximum time of a sleep, in milliseconds; 0 if timed work is due. */
    private int limitMs() {
        final int limitMs = hasSilentQueue ? SILENT_QUEUE_SLEEP_MS : maxSleepMs;
        if (!timedWork.isPending()) {
            return limitMs;
        }
        final long leftNs = timedWork.leftNs(System.nanoTime());
        return leftNs <= 0 ? 0 : Math.min(limitMs, milliseconds(leftNs));
    }

    private void watch(final int fd) {
        descriptors.add(fd, () -> takeEvents(fd));
    }

    /**
     * Reads the events of a channel through a queue that is still polled: the first queue of the channel may have left the round.
     */
    private void takeEvents(final int fd) {
        int taken = 0;
        int faultCode = 0;
        boolean asked = false;
        for (int i = 0; i < round.size; i++) {
            final PolledQueue polled = round.queues[i];
            if (polled.eventFd == fd) {
                if (!asked) {
                    asked = true;
                    MemoryFault.check();
                    try {
                        taken = Math.max(0, ((NotifyingQueue) polled.queue).takeEvents());
                    } catch (final Throwable failed) {
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
        spinning = spinTime.ns() > 0;
        spins = 0;
    }
}
