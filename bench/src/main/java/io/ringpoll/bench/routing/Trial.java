package io.ringpoll.bench.routing;

import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.IbvWc;
import io.ringpoll.verbs.WcOpcode;
import io.ringpoll.verbs.WcStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One run of one way with a number of handlers: completions are written where a poll would write them, at full speed or at a
 * rate, and counted and timed where the handlers get them.
 *
 * <p>At a rate each record carries the time at which it was due, so that a hand-over that falls behind shows its delay.
 */
final class Trial {
    private static final int BATCH_LIMIT = 32;
    private static final int PATTERN_LENGTH = 4096;
    private static final int SPINS_BEFORE_YIELD = 100;
    private static final long MAX_NS = TimeUnit.SECONDS.toNanos(10);
    private static final CompletionPath[] PATHS = CompletionPath.values();

    private final Exchange exchange;
    private final int handlers;
    private final long completions;
    private final long intervalNs;
    /** Which path each completion takes, over and over. */
    private final byte[] pattern = new byte[PATTERN_LENGTH];
    private volatile long consumed;

    /**
     * Prepares a run.
     *
     * @param mode        the way
     * @param handlers    1 to 3: as many paths get completions, in equal shares and random order
     * @param completions in all
     * @param intervalNs  between two completions; 0 for full speed
     */
    Trial(final Mode mode, final int handlers, final long completions, final long intervalNs) {
        this.exchange = mode.exchange(BATCH_LIMIT);
        this.handlers = handlers;
        this.completions = completions;
        this.intervalNs = intervalNs;
        final Random random = new Random(42);
        for (int i = 0; i < PATTERN_LENGTH; i++) {
            pattern[i] = (byte) random.nextInt(handlers);
        }
    }

    /** Runs; nanoseconds a completion, from the first write to the last handler's last. */
    double run(final Histogram latency) throws InterruptedException {
        final List<Thread> threads = new ArrayList<>();
        final List<Histogram> latencies = new ArrayList<>();
        for (int path = 0; path < handlers; path++) {
            final Exchange.Reader reader = exchange.reader(PATHS[path]);
            final Histogram own = new Histogram(MAX_NS, 3);
            latencies.add(own);
            final long expected = count(path);
            threads.add(new Thread(() -> handle(reader, expected, own), "handler-" + path));
        }
        threads.forEach(Thread::start);
        final long startNs = System.nanoTime();
        if (intervalNs == 0) {
            writeAtFullSpeed();
        } else {
            writeAtRate(startNs);
        }
        for (final Thread thread : threads) {
            thread.join();
        }
        final long elapsedNs = System.nanoTime() - startNs;
        latencies.forEach(latency::add);
        return (double) elapsedNs / completions;
    }

    private long count(final int path) {
        long inPattern = 0;
        long inRest = 0;
        for (int i = 0; i < PATTERN_LENGTH; i++) {
            if (pattern[i] == path) {
                inPattern++;
                inRest += i < completions % PATTERN_LENGTH ? 1 : 0;
            }
        }
        return completions / PATTERN_LENGTH * inPattern + inRest;
    }

    private void handle(final Exchange.Reader reader, final long expected, final Histogram latency) {
        final long[] sum = new long[1];
        final Exchange.Sink sink = intervalNs == 0 ?
            (buffer, offset, endOfBatch) -> sum[0] += buffer.getLong(offset + IbvWc.WR_ID_OFFSET) :
            (buffer, offset, endOfBatch) -> latency.recordValue(
                Math.max(0, Math.min(MAX_NS, System.nanoTime() - buffer.getLong(offset + IbvWc.WR_ID_OFFSET))));
        long handled = 0;
        int idle = 0;
        while (handled < expected) {
            final int read = reader.read(sink);
            handled += read;
            idle = read > 0 ? 0 : pause(idle);
        }
        consumed = sum[0];
    }

    private void writeAtFullSpeed() {
        long sent = 0;
        int idle = 0;
        while (sent < completions) {
            final int claimed = exchange.claim((int) Math.min(BATCH_LIMIT, completions - sent));
            if (claimed > 0) {
                write(claimed, sent, 0, 1);
                sent += claimed;
                idle = 0;
            } else {
                idle = pause(idle);
            }
        }
    }

    private void writeAtRate(final long startNs) {
        long sent = 0;
        int idle = 0;
        while (sent < completions) {
            final long late = System.nanoTime() - startNs - sent * intervalNs;
            final int due = (int) Math.min(Math.min(BATCH_LIMIT, completions - sent), late < 0 ? 0 : late / intervalNs + 1);
            final int claimed = due > 0 ? exchange.claim(due) : 0;
            if (claimed > 0) {
                write(claimed, sent, startNs, intervalNs);
                sent += claimed;
                idle = 0;
            } else {
                idle = pause(idle);
            }
        }
    }

    private void write(final int count, final long first, final long base, final long step) {
        final UnsafeBuffer slots = exchange.slots();
        int offset = exchange.offset();
        for (int i = 0; i < count; i++) {
            final int path = pattern[(int) (first + i) & PATTERN_LENGTH - 1];
            slots.putLong(offset + IbvWc.WR_ID_OFFSET, base + (first + i) * step);
            slots.putInt(offset + IbvWc.STATUS_OFFSET, path == 2 ? WcStatus.WR_FLUSH_ERR : WcStatus.SUCCESS);
            slots.putInt(offset + IbvWc.OPCODE_OFFSET, path == 1 ? WcOpcode.RECV : WcOpcode.RDMA_WRITE);
            slots.putLong(offset + IbvWc.VENDOR_ERR_OFFSET, 0);
            slots.putLong(offset + IbvWc.IMM_DATA_OFFSET, first);
            slots.putLong(offset + IbvWc.SRC_QP_OFFSET, 0);
            slots.putLong(offset + IbvWc.PKEY_INDEX_OFFSET, 0);
            offset += IbvWc.SIZE_BYTES;
        }
        exchange.publish(count);
    }

    /** Spins, then yields: there may be fewer cores than threads. */
    private static int pause(final int idle) {
        if (idle < SPINS_BEFORE_YIELD) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
        return idle + 1;
    }
}
