package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineReport;
import io.ringpoll.pipeline.PipelineState;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** A pipeline of a scene, with the state of its model; any thread. */
final class PipelineUnderTest {
    static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

    private final String name;
    private final Violations violations;
    private final List<TortureHandler> handlers = new ArrayList<>();
    private final AtomicInteger undelivered = new AtomicInteger();
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicInteger executed = new AtomicInteger();
    private final AtomicReference<PipelineReport> inTime = new AtomicReference<>();
    private volatile Pipeline pipeline;
    private volatile boolean ended;
    private volatile boolean agentClosed;
    /** Null unless the poller is an agent. */
    private AgentDriver driver;

    PipelineUnderTest(final String name, final Violations violations) {
        this.name = name;
        this.violations = violations;
    }

    String name() {
        return name;
    }

    void add(final TortureHandler handler) {
        handlers.add(handler);
    }

    void started(final Pipeline running) {
        pipeline = running;
    }

    /** Begins to invoke the agent of the pipeline; thread of the scene. */
    void drive(final Shape shape, final SplittableRandom random) {
        driver = new AgentDriver(this, shape, random, violations);
    }

    /** A call is about to close the agent, after which tasks are refused. */
    void closesAgent() {
        agentClosed = true;
    }

    /** The threads that invoke the agent end, and nobody does any more. */
    void abandonAgent() {
        if (driver != null) {
            driver.abandon();
        }
    }

    /** The pipeline; null before its start, and if the start has failed. */
    Pipeline pipeline() {
        return pipeline;
    }

    /** Submits a task, which may be refused; each accepted one must be executed. */
    void execute() {
        try {
            if (pipeline.execute(executed::incrementAndGet)) {
                accepted.incrementAndGet();
            }
        } catch (final RejectedExecutionException stopped) {
            violations.expect(agentClosed || pipeline.state().compareTo(PipelineState.HALTED) >= 0,
                name + ": refused a task while running");
        }
    }

    void onUndelivered() {
        undelivered.incrementAndGet();
    }

    /** Whether a call that ends it has returned, or a handler has halted it: it accepts no more queues. */
    boolean refusesQueues() {
        return ended || pipeline.failure() != null;
    }

    /** The calling thread has stopped or closed it and received a report. */
    void onEnd(final String call, final PipelineReport report) {
        violations.expect(report.polled() >= report.handled() && report.handled() >= 0 && report.held() >= 0,
            name + ": " + call + " reported " + report);
        if (report.inTime()) {
            final boolean whole = report.unhandled() == 0 || pipeline.failure() != null;
            violations.expect(whole && report.held() == 0 && report.inQueues() >= 0,
                name + ": " + call + " was in time and reported " + report);
            violations.expect(!hasLiveThread(), name + ": a thread lived after " + call + " had returned in time");
            final PipelineReport earlier = inTime.compareAndExchange(null, report);
            violations.expect(earlier == null || earlier.equals(report),
                name + ": two calls reported differently: " + earlier + " and " + report);
        }
    }

    /** A call that ends it, by a thread outside of the pipeline, has returned. */
    void ended() {
        ended = true;
    }

    /**
     * Ends the pipeline, and verifies it after its threads have ended.
     *
     * @param timeoutNs bound of the call that ends it, unless it has been ended before
     * @return number of completions lost in its ring, from its report; 0 if there was none
     */
    long end(final long timeoutNs) {
        if (pipeline == null) {
            return 0;
        }
        final PipelineReport closing = timeoutNs < PATIENCE_NS ? pipeline.stop(timeoutNs) : pipeline.close(timeoutNs);
        onEnd("the last close", closing);
        if (driver != null) {
            driver.end();
        }
        final long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (hasLiveThread() && System.nanoTime() - deadlineNs < 0) {
            Thread.onSpinWait();
        }
        violations.expect(!hasLiveThread(), name + ": a thread of it does not end: " + liveThread());
        // If the pipeline closes itself meanwhile, the call above reached its time-out, and the closing thread takes the rest.
        final PipelineReport last = pipeline.close(PATIENCE_NS);
        violations.expect(last.equals(pipeline.stop(0)), name + ": a further call did not report " + last);
        violations.expect(last.equals(closing) || !closing.inTime(), name + ": further calls reported " + last +
            ", the last close " + closing);
        violations.expect(last.inQueues() == PipelineReport.UNKNOWN || last.inQueues() == undelivered.get(),
            name + ": " + undelivered.get() + " completions were left over, and the report is " + last);
        violations.expect(accepted.get() == executed.get(),
            name + ": accepted " + accepted.get() + " tasks and executed " + executed.get());
        handlers.forEach(TortureHandler::judge);
        final long lost = pipeline.occupancy();
        violations.expect(lost == 0 || pipeline.failure() != null || !last.inTime(),
            name + ": in time and without a failure, but " + lost + " slots of its ring were not handled");
        return lost;
    }

    private boolean hasLiveThread() {
        return liveThread() != null;
    }

    private Thread liveThread() {
        if (driver == null && pipeline.pollerThread().isAlive()) {
            return pipeline.pollerThread();
        }
        return pipeline.handlerThreads().stream().filter(Thread::isAlive).findFirst().orElse(null);
    }
}
