package io.ringpoll.bench.replicate;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * One measurement: appends numbered records to all groups in turns, up to the window at a time, and reads all logs back at the
 * end.
 */
final class ReplicateRun {
    private static final long HIGHEST_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long UNMEASURED_NS = TimeUnit.DAYS.toNanos(1);
    private static final int DIGITS = 3;
    private static final int WAIT_S = 30;

    private final ReplicateConfig config;
    private final Contestant contestant;
    private final Transport transport;
    private final Histogram latencies = new ConcurrentHistogram(HIGHEST_NS, DIGITS);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final List<Written> written;

    /** The records of a group. */
    private static final class Written {
        private final CRC32C sum = new CRC32C();
        private long records;
    }

    ReplicateRun(final ReplicateConfig config, final Contestant contestant) {
        this.config = config;
        this.contestant = contestant;
        transport = contestant.transport();
        written = IntStream.range(0, config.groups()).mapToObj(i -> new Written()).toList();
    }

    /** Starts a cluster, measures, verifies, and stops the cluster. */
    ReplicateResult run() throws IOException, InterruptedException, TimeoutException {
        try (ReplicatedCluster cluster = ReplicatedCluster.start(config, contestant)) {
            final Semaphore window = new Semaphore(config.window());
            begin(cluster, window);
            final long startNs = System.nanoTime();
            final long countFromNs = startNs + config.warmUpNs();
            final long endNs = countFromNs + config.runNs();
            int turn = 0;
            AppendProfile.Start profileStart = null;
            for (long nowNs = startNs; nowNs - endNs < 0 && failure.get() == null; nowNs = System.nanoTime()) {
                acquire(window, 1);
                if (profileStart == null && config.profile() && nowNs - countFromNs >= 0) {
                    profileStart = new AppendProfile.Start();
                }
                append(cluster.groups().get(turn), written.get(turn), countFromNs, window);
                turn = (turn + 1) % config.groups();
            }
            acquire(window, config.window());
            if (failure.get() != null) {
                throw new IOException("an append over " + transport + " has failed: " + failure.get(), failure.get());
            }
            final AppendProfile profile =
                profileStart == null ? AppendProfile.NONE : profileStart.end(latencies.getTotalCount());
            for (int i = 0; i < config.groups(); i++) {
                verify(cluster.groups().get(i).awaitApplied(written.get(i).records), i);
            }
            return new ReplicateResult(latencies.getTotalCount() * 1e9 / config.runNs(), latencies,
                written.stream().mapToLong(each -> each.records).sum(), profile);
        }
    }

    /** Appends an unmeasured record to each group: it waits for the election of the leader. */
    private void begin(final ReplicatedCluster cluster, final Semaphore window) throws InterruptedException, TimeoutException {
        for (int i = 0; i < config.groups(); i++) {
            acquire(window, 1);
            append(cluster.groups().get(i), written.get(i), System.nanoTime() + UNMEASURED_NS, window);
        }
        acquire(window, config.window());
        window.release(config.window());
    }

    private void acquire(final Semaphore window, final int places) throws InterruptedException, TimeoutException {
        if (!window.tryAcquire(places, WAIT_S, TimeUnit.SECONDS)) {
            throw new TimeoutException("appends not acknowledged in " + WAIT_S + " s over " + transport);
        }
    }

    private void append(final ReplicatedGroup group, final Written to, final long countFromNs, final Semaphore window) {
        final byte[] record = new byte[config.nextPayloadBytes(ThreadLocalRandom.current())];
        ThreadLocalRandom.current().nextBytes(record);
        RecordLog.number(record, to.records++);
        to.sum.update(record);
        final ByteString content = UnsafeByteOperations.unsafeWrap(record);
        final long sentNs = System.nanoTime();
        group.client().async().send(Message.valueOf(content))
            .whenComplete((reply, failed) -> acknowledged(reply, failed, sentNs, countFromNs, window));
    }

    private void acknowledged(final RaftClientReply reply, final Throwable failed, final long sentNs, final long countFromNs,
        final Semaphore window) {
        if (failed != null || !reply.isSuccess()) {
            failure.compareAndSet(null, failed != null ? failed : reply.getException());
        } else if (sentNs - countFromNs >= 0) {
            latencies.recordValue(Math.min(HIGHEST_NS, System.nanoTime() - sentNs));
        }
        window.release();
    }

    /** Verifies that every acknowledged record of a group is in its log on every server, in order, once, and unchanged. */
    void verify(final List<RecordLog.State> states, final int group) throws IOException {
        final RecordLog.State expected = new RecordLog.State(written.get(group).records, 0, written.get(group).sum.getValue());
        for (final RecordLog.State state : states) {
            if (!state.equals(expected)) {
                throw new IOException("a log over " + transport + " is " + state + " where " + expected + " was acknowledged");
            }
        }
    }
}
