package io.ringpoll.poller;

import io.ringpoll.poller.CompletionPoller.Outcome;
import java.util.concurrent.locks.LockSupport;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.agrona.concurrent.SystemNanoClock;

/**
 * Runs a poller's duty cycle on one thread until it is told to stop.
 *
 * <p>What follows a cycle depends on how it ended. After work, or when all queues are empty, it is the idle strategy's turn.
 * While the ring is full the thread spins and then yields, so that handlers that share its core get on; it never parks, since
 * the first slot that becomes free is to be filled at once. While it is paused, or nothing can ever be published again, it
 * sleeps in short stretches.
 *
 * <p>{@link #run} belongs to the polling thread, {@link #stop} to any other.
 */
public final class PollerLoop implements Runnable {
    private static final int FULL_RING_SPINS = 200;
    private static final long PAUSED_PARK_NS = 200_000;

    private final CompletionPoller poller;
    private final IdleStrategy idleStrategy;
    private final StallTracker stallTracker;
    private final ErrorHandler errorHandler;
    private final boolean spins;

    private volatile boolean running = true;
    private int fullCycles;

    /**
     * Creates a loop; before queues are added to the poller.
     *
     * @param poller       whose duty cycle it is
     * @param idleStrategy for rounds in which all queues were empty; no other thread uses it
     * @param thresholdNs  a duty cycle longer than this, in nanoseconds, is counted as over the threshold; negative to read no
     *     clock
     * @param errorHandler hears of what ends the loop against its will
     */
    public PollerLoop(
        final CompletionPoller poller, final IdleStrategy idleStrategy, final long thresholdNs,
        final ErrorHandler errorHandler) {
        this.poller = poller;
        this.idleStrategy = idleStrategy;
        this.errorHandler = errorHandler;
        this.spins = isSpinning(idleStrategy);
        if (idleStrategy instanceof final EventDrivenIdle eventDriven) {
            poller.sleepBy(eventDriven);
        }
        this.stallTracker = new StallTracker(
            SystemNanoClock.INSTANCE, poller.counters(), thresholdNs, spins ? StallTracker.MAX_WINDOW : 1);
    }

    /**
     * Whether a thread with this strategy never gives its CPU away.
     *
     * @param idleStrategy of a poller
     * @return true of one that does nothing, and of one that only tells the CPU that it spins
     */
    public static boolean isSpinning(final IdleStrategy idleStrategy) {
        return idleStrategy instanceof NoOpIdleStrategy || idleStrategy instanceof BusySpinIdleStrategy;
    }

    /** Begins: from now on commands are the loop's. Called on the polling thread before {@link #run}. */
    public void onStart() {
        poller.onStart();
    }

    /** Runs duty cycles until {@link #stop}. */
    @Override
    public void run() {
        try {
            stallTracker.restart(poller.cycles());
            while (running) {
                final int workCount = poller.doWork();
                stallTracker.onCycle(poller.cycles(), workCount > 0);
                idle(workCount);
            }
        } catch (final Throwable failure) {
            errorHandler.onError(failure);
        } finally {
            poller.onClose();
        }
    }

    /** Ends the loop after its present duty cycle, or at its start; no queue can be added any more. Any thread. */
    public void stop() {
        running = false;
        poller.commands().stop();
    }

    private void idle(final int workCount) {
        final Outcome outcome = poller.outcome();
        if (outcome == Outcome.WORKED || outcome == Outcome.EMPTY) {
            fullCycles = 0;
            idleStrategy.idle(workCount);
            if (workCount == 0 && !spins) {
                // A handler on this thread may have left the flag set: a strategy that parks would spin.
                Thread.interrupted();
                stallTracker.restart(poller.cycles());
            }
        } else if (outcome == Outcome.RING_FULL) {
            if (++fullCycles <= FULL_RING_SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
                stallTracker.restart(poller.cycles());
            }
        } else {
            LockSupport.parkNanos(PAUSED_PARK_NS);
            Thread.interrupted();
            stallTracker.restart(poller.cycles());
        }
    }
}
