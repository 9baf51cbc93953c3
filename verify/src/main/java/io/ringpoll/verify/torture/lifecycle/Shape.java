package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.poller.EventDrivenIdle;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.IdleStrategy;

/**
 * The parts of a scene, drawn from its seed.
 *
 * @param pipelines       number of pipelines; more than one form a group
 * @param runToCompletion whether handlers run on the polling threads
 * @param ringSize        slots of each ring
 * @param batchLimit      largest batch of one queue
 * @param idle            wait of the pollers
 * @param handlerWait     wait of the handlers
 * @param scripted        number of queues that are implemented in Java
 * @param slowPolls       one in so many polls of scripted queues is slow; 0 for none
 * @param shared          whether scripted queues raise events, through one descriptor
 * @param synthetic       number of synthetic queues of the loopback device
 * @param links           number of connected pairs
 * @param depth           send and receive queue size of each connection
 * @param operators       number of threads that call the public methods
 * @param calls           number of calls of each operator
 * @param handlerCalls    a handler calls a public method at one in so many completions; 0 for never
 * @param throwing        a handler throws at one in so many completions; 0 for never
 * @param halting         whether a handler that throws ends its pipeline
 * @param interrupting    a handler sets its interrupt flag at one in so many completions; 0 for never
 * @param maxHeld         slots that a handler may hold; 0 for none
 * @param staged          whether a second stage follows each path's handler
 * @param observed        whether one more handler gets all completions
 * @param hook            the hook that throws
 * @param countersFile    whether counters are in a file
 * @param startTimeoutNs  bound of the start
 * @param doubledQueue    whether a queue is described twice, which no pipeline starts with
 * @param agents          whether the pollers are agents that several threads invoke
 * @param idleTimeoutNs   time after which idle handlers are called; 0 for never
 */
record Shape(
    int pipelines, boolean runToCompletion, int ringSize, int batchLimit, WaitMode idle, WaitMode handlerWait, int scripted,
    int slowPolls, boolean shared, int synthetic, int links, int depth, int operators, int calls, int handlerCalls, int throwing,
    boolean halting, int interrupting, int maxHeld, boolean staged, boolean observed, Hook hook,
    boolean countersFile, long startTimeoutNs, boolean doubledQueue, boolean agents, long idleTimeoutNs) {

    private static final int LARGE_RING = 1 << 20;
    private static final int MAX_RING_BITS = 10;
    private static final int MAX_BATCH = 256;
    private static final long SPIN_NS = TimeUnit.MICROSECONDS.toNanos(20);
    private static final long LONGEST_SLEEP_NS = TimeUnit.MINUTES.toNanos(1);

    /** A user hook that throws in a scene. */
    enum Hook {
        NONE, ON_START, ON_SHUTDOWN, ON_FAILURE, ON_LEFT_OVER, ON_QUEUE_FAULT
    }

    static Shape draw(final SplittableRandom random, final boolean isLoopback) {
        final boolean runToCompletion = random.nextInt(3) == 0;
        final int ringSize = random.nextInt(8) == 0 ? LARGE_RING : 2 << random.nextInt(MAX_RING_BITS);
        final int links = isLoopback ? random.nextInt(3) : 1;
        final int pipelines = 1 + Math.max(0, random.nextInt(5) - 2);
        final int maxHeld = runToCompletion || random.nextBoolean() ? 0 : 1 + random.nextInt(Math.min(ringSize / 2, 16));
        return new Shape(
            pipelines, runToCompletion, ringSize, 1 + random.nextInt(Math.min(ringSize, MAX_BATCH)),
            draw(random, WaitMode.values()), draw(random, WaitMode.values()), 1 + random.nextInt(3), oneIn(random, 2, 12),
            random.nextBoolean(), isLoopback ? random.nextInt(3) : 0, links, 1 << random.nextInt(7), 1 + random.nextInt(4),
            4 + random.nextInt(36), oneIn(random, 2, 1000), oneIn(random, 3, 300), random.nextInt(3) == 0,
            oneIn(random, 4, 500), maxHeld, !runToCompletion && random.nextInt(3) == 0, random.nextInt(3) == 0,
            random.nextInt(2) == 0 ? Hook.NONE : draw(random, Hook.values()), random.nextInt(4) != 0,
            random.nextInt(16) == 0 ? random.nextInt(2) : TimeUnit.SECONDS.toNanos(20),
            random.nextInt(16) == 0, random.nextInt(3) == 0, oneIn(random, 3, 1_000_000));
    }

    private static <T> T draw(final SplittableRandom random, final T[] values) {
        return values[random.nextInt(values.length)];
    }

    /** 0 in all but one of so many cases, else from 2 to the maximum. */
    private static int oneIn(final SplittableRandom random, final int cases, final int most) {
        return random.nextInt(cases) == 0 ? 2 + random.nextInt(most) : 0;
    }

    /** The idle strategy of a poller. After a lost wake-up a call takes too long: a sleep exceeds every time limit. */
    IdleStrategy newIdleStrategy() {
        return idle == WaitMode.BLOCK ? new EventDrivenIdle(SPIN_NS, LONGEST_SLEEP_NS) : idle.newIdleStrategy();
    }

    /** Whether the bound of the start is so short that it may fail. */
    boolean mayStartLate() {
        return startTimeoutNs < TimeUnit.SECONDS.toNanos(1);
    }
}
