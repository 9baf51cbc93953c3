package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineStartException;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.Agent;

/**
 * The threads that invoke the agent of a pipeline in turn, as a user's runner would; any other thread may do so, too.
 *
 * <p>Created, ended and joined by the thread of the scene.
 */
final class AgentDriver {
    private static final int THREADS = 2;
    private static final int LONGEST_TURN = 3000;
    private static final int NAP_ONE_IN = 500;
    private static final int LONGEST_NAP_NS = 500_000;
    private static final String TWO_THREADS = "one thread at a time invokes an agent";
    private static final String OWN_CYCLE = "in its own duty cycle";

    private final PipelineUnderTest subject;
    private final Shape shape;
    private final Violations violations;
    private final List<Thread> threads = new ArrayList<>();
    private volatile int turn;
    private volatile boolean running = true;

    AgentDriver(final PipelineUnderTest subject, final Shape shape, final SplittableRandom random, final Violations violations) {
        this.subject = subject;
        this.shape = shape;
        this.violations = violations;
        for (int i = 0; i < THREADS; i++) {
            final int number = i;
            final SplittableRandom own = random.split();
            threads.add(new Thread(() -> run(number, own), subject.name() + "-driver-" + i));
        }
        threads.forEach(Thread::start);
    }

    /** Makes a duty cycle, which another thread's duty cycle may refuse. */
    static void invoke(final Pipeline pipeline, final Violations violations) {
        try {
            final int workCount = pipeline.agent().doWork();
            violations.expect(workCount >= 0, "an agent's work count is " + workCount);
        } catch (final IllegalStateException refused) {
            violations.expect(isRefusal(refused), "doWork: " + refused);
        } catch (final Exception failure) {
            violations.unexpected("doWork", failure);
        }
    }

    /** Closes the agent, which a long duty cycle of another thread may refuse. */
    static boolean close(final Pipeline pipeline, final Violations violations) {
        try {
            pipeline.agent().onClose();
            return true;
        } catch (final IllegalStateException refused) {
            violations.expect(refused.getMessage().contains(TWO_THREADS), "onClose: " + refused);
            return false;
        }
    }

    /** Ends the threads, which leave the agent as it is. */
    void abandon() {
        running = false;
        for (final Thread thread : threads) {
            try {
                thread.join(TimeUnit.NANOSECONDS.toMillis(PipelineUnderTest.PATIENCE_NS));
            } catch (final InterruptedException unexpected) {
                violations.unexpected("the end of a driver", unexpected);
            }
            violations.expect(!thread.isAlive(), thread.getName() + " does not end");
        }
    }

    /** Ends the threads and the agent. */
    void end() {
        abandon();
        final long deadlineNs = System.nanoTime() + PipelineUnderTest.PATIENCE_NS;
        boolean closed = false;
        while (!closed && System.nanoTime() - deadlineNs < 0) {
            closed = close(subject.pipeline(), violations);
        }
        violations.expect(closed, subject.name() + ": its agent does not end");
    }

    private static boolean isRefusal(final IllegalStateException refused) {
        // Before the driver has started the agent, or after a handler has refused to start.
        return refused.getMessage().contains(TWO_THREADS) || refused.getMessage().contains(OWN_CYCLE) ||
            refused.getMessage().contains("has not been started");
    }

    private void run(final int number, final SplittableRandom random) {
        if (number == 0) {
            start();
        }
        while (running) {
            if (turn == number) {
                for (int left = 1 + random.nextInt(LONGEST_TURN); left > 0 && running; left--) {
                    invoke(subject.pipeline(), violations);
                    // Handlers and operators interrupt.
                    Thread.interrupted();
                    if (random.nextInt(NAP_ONE_IN) == 0) {
                        LockSupport.parkNanos(random.nextInt(LONGEST_NAP_NS));
                    }
                }
                turn = (number + 1) % THREADS;
            }
            Thread.yield();
        }
    }

    private void start() {
        final Agent agent = subject.pipeline().agent();
        try {
            agent.onStart();
        } catch (final PipelineStartException notStarted) {
            violations.expect(shape.hook() == Shape.Hook.ON_START, "onStart: " + notStarted);
        } catch (final IllegalStateException refused) {
            // By an operator that has closed the pipeline or the agent, or is in its refused duty cycle.
            violations.expect(refused.getMessage().contains("cannot be started"), "onStart: " + refused);
        }
    }
}
