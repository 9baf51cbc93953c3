package io.ringpoll.bench.latency;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.bench.link.LinkEnd;
import io.ringpoll.os.ThreadAffinity;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.Schedule;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;

/**
 * The thread that posts operations at their due times. An operation that waits for room is posted late, but its latency counts
 * from its due time.
 */
final class PacedPoster extends Thread {
    private static final long CATCH_UP_NS = TimeUnit.SECONDS.toNanos(4);
    private static final long REST_NS = TimeUnit.SECONDS.toNanos(5);

    private final Schedule schedule;
    private final HotThreads threads;
    private final long startNs;
    private final long untilNs;
    private final LongPredicate post;
    private final LongSupplier ended;
    /** Cached: the counter of another thread is read only when there may be no room. */
    private long endedSeen;
    private volatile boolean stopped;
    private volatile long posted;
    private volatile String fault = "";

    /**
     * Creates the thread.
     *
     * @param schedule due times of the operations
     * @param threads  CPU and wait strategy of the thread
     * @param startNs  start of the schedule
     * @param untilNs  operations due before this time are posted even if late
     * @param post     posts an operation with the given due time; false if the send queue is full
     * @param ended    number of operations that have ended and made room for others
     */
    PacedPoster(final Schedule schedule, final HotThreads threads, final long startNs, final long untilNs,
        final LongPredicate post, final LongSupplier ended) {
        super("bench-poster");
        setDaemon(true);
        this.schedule = schedule;
        this.threads = threads;
        this.startNs = startNs;
        this.untilNs = untilNs;
        this.post = post;
        this.ended = ended;
    }

    /** Lets it post the operations that were due within the time, and waits for its end. */
    void end() {
        stopped = true;
        try {
            join(TimeUnit.NANOSECONDS.toMillis(REST_NS));
        } catch (final InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** The number of posted operations. */
    long posted() {
        return posted;
    }

    /** The reason for an early end; empty if there was none. */
    String fault() {
        return fault;
    }

    @Override
    public void run() {
        try {
            if (threads.poster() != HotCpus.ANY) {
                ThreadAffinity.pin(threads.poster());
            }
            post(schedule.dueNs(), schedule.periodNs());
        } catch (final RuntimeException failure) {
            fault = failure.toString();
        }
    }

    private void post(final long[] dueNs, final long periodNs) {
        long periodStartNs = startNs;
        long count = 0;
        int index = 0;
        while (awaitTurn(periodStartNs + dueNs[index], count)) {
            if (!post.test(periodStartNs + dueNs[index])) {
                throw new IllegalStateException("the send queue was full with " + LinkEnd.DEPTH + " in flight");
            }
            count++;
            posted = count;
            index++;
            if (index == dueNs.length) {
                index = 0;
                periodStartNs += periodNs;
            }
        }
    }

    /** Waits for the due time and for room; false if the run is over. */
    private boolean awaitTurn(final long due, final long count) {
        // Operations that were due within the turn are posted even if late: otherwise the highest latencies would be missing.
        while (!stopped || due - untilNs < 0) {
            if (System.nanoTime() - untilNs >= CATCH_UP_NS) {
                throw new IllegalStateException("posts that were due had not been made " +
                    TimeUnit.NANOSECONDS.toSeconds(CATCH_UP_NS) + " seconds after the turn");
            }
            if (count - endedSeen >= LinkEnd.DEPTH) {
                endedSeen = ended.getAsLong();
            } else if (System.nanoTime() - due >= 0) {
                return true;
            }
            if (threads.waitStrategy() == WaitMode.BUSY_SPIN) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
        return false;
    }
}
