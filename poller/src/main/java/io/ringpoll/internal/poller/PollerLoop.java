package io.ringpoll.internal.poller;

import io.ringpoll.internal.poller.CompletionPoller.Outcome;
import io.ringpoll.poller.EventDrivenIdle;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NoOpIdleStrategy;

/**
 * Runs a poller's duty cycle on one thread until it is stopped.
 *
 * <p>The outcome of a duty cycle determines the next step. After work or an empty round, the idle strategy is called. While the
 * ring is full, the thread spins and then yields, so that handlers on its core can run; it does not park, because the first free
 * slot should be filled without delay. While the poller is paused or halted, the thread parks for short periods.
 *
 * <p>{@link #run} belongs to the polling thread, {@link #stop} to any other. Of a poller that is an agent, threads of the user
 * make the duty cycles and call {@link #idle} only.
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
     * @param poller       agent to run
     * @param idleStrategy called after empty rounds; used by this loop only, unless it is event-driven
     * @param thresholdNs  duty cycles longer than this, in nanoseconds, are counted; if negative, the clock is not read
     * @param errorHandler receives an exception that ends the loop
     */
    public PollerLoop(
        final CompletionPoller poller, final IdleStrategy idleStrategy, final long thresholdNs,
        final ErrorHandler errorHandler) {
        this(poller, idleStrategy, thresholdNs, errorHandler, UnaryOperator.identity());
    }

    /**
     * Creates a loop with an extended idle strategy; before queues are added to the poller.
     *
     * @param poller       agent to run
     * @param idleStrategy called after empty rounds; used by this loop only, unless it is event-driven
     * @param thresholdNs  duty cycles longer than this, in nanoseconds, are counted; if negative, the clock is not read
     * @param errorHandler receives an exception that ends the loop
     * @param extension    applied to the idle strategy, or to that of the poller if it is event-driven
     */
    public PollerLoop(
        final CompletionPoller poller, final IdleStrategy idleStrategy, final long thresholdNs,
        final ErrorHandler errorHandler, final UnaryOperator<IdleStrategy> extension) {
        this.poller = Objects.requireNonNull(poller, "the poller is null");
        Objects.requireNonNull(idleStrategy, "idleStrategy is null");
        this.errorHandler = Objects.requireNonNull(errorHandler, "errorHandler is null");
        this.spins = isSpinning(idleStrategy);
        this.idleStrategy = Objects.requireNonNull(extension, "the extension is null").apply(
            idleStrategy instanceof final EventDrivenIdle events ? poller.sleepOnEvents(events) : idleStrategy);
        if (spins) {
            poller.spin();
        }
        this.stallTracker = new StallTracker(
            poller.clock(), poller.counters(), thresholdNs, spins ? StallTracker.MAX_WINDOW : 1);
    }

    /**
     * Whether an idle strategy never yields or parks.
     *
     * @param idleStrategy of a poller
     * @return true for the no-op and busy-spin strategies
     */
    public static boolean isSpinning(final IdleStrategy idleStrategy) {
        return idleStrategy instanceof NoOpIdleStrategy || idleStrategy instanceof BusySpinIdleStrategy;
    }

    /** Makes the calling thread the polling thread; called before {@link #run}. */
    public void onStart() {
        poller.onStart();
    }

    /** Runs duty cycles until {@link #stop}. */
    @Override
    public void run() {
        try {
            try {
                runCycles();
            } finally {
                // Before the failure is reported, which an error of the counters must not interrupt.
                MemoryFault.check();
            }
        } catch (final Throwable failure) {
            errorHandler.onError(failure);
        } finally {
            poller.onClose();
        }
    }

    private void runCycles() {
        stallTracker.restart(poller.cycles());
        while (running) {
            final int workCount = poller.doWork();
            stallTracker.onCycle(poller.cycles(), workCount > 0);
            if (idle(workCount)) {
                onSlept();
            }
        }
    }

    /** Ends the loop after the current duty cycle, or at its start; queues can no longer be added. Any thread. */
    public void stop() {
        running = false;
        poller.stop();
    }

    /**
     * Idles after a duty cycle of the calling thread as its outcome demands: after work and empty rounds by the idle strategy.
     *
     * @param workCount result of the duty cycle
     * @return whether the thread may have slept
     */
    public boolean idle(final int workCount) {
        final Outcome outcome = poller.outcome();
        if (outcome == Outcome.WORKED || outcome == Outcome.EMPTY) {
            fullCycles = 0;
            final boolean mayBlock = workCount == 0 && !spins;
            if (mayBlock) {
                // Behind the poll that follows a sleep: an answer that has arrived meanwhile precedes its time-out.
                poller.runTimedWork();
            }
            idleStrategy.idle(workCount);
            return mayBlock;
        } else if (outcome == Outcome.RING_FULL) {
            if (++fullCycles <= FULL_RING_SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
                stallTracker.restart(poller.cycles());
            }
            return false;
        }
        LockSupport.parkNanos(PAUSED_PARK_NS);
        poller.runTimedWork();
        return true;
    }

    private void onSlept() {
        // A handler or task may have left the interrupt flag of this thread set: a parking strategy would spin.
        Thread.interrupted();
        stallTracker.restart(poller.cycles());
    }
}
