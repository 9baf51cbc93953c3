package io.ringpoll.bench.replicate;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32C;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/** One measurement: appends numbered records, up to the window at a time, and reads all logs back at the end. */
final class ReplicateRun {
    private static final long HIGHEST_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int DIGITS = 3;
    private static final int WAIT_S = 30;

    private final ReplicateConfig config;
    private final Contestant contestant;
    private final Transport transport;
    private final Histogram latencies = new ConcurrentHistogram(HIGHEST_NS, DIGITS);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final CRC32C sum = new CRC32C();

    ReplicateRun(final ReplicateConfig config, final Contestant contestant) {
        this.config = config;
        this.contestant = contestant;
        transport = contestant.transport();
    }

    /** Starts a cluster, measures, verifies, and stops the cluster. */
    ReplicateResult run() throws IOException, InterruptedException, TimeoutException {
        try (ReplicatedCluster cluster = ReplicatedCluster.start(config, contestant)) {
            final Semaphore window = new Semaphore(config.window());
            final long startNs = System.nanoTime();
            final long countFromNs = startNs + config.warmUpNs();
            final long endNs = countFromNs + config.runNs();
            long number = 0;
            AppendProfile.Start profileStart = null;
            for (long nowNs = startNs; nowNs - endNs < 0 && failure.get() == null; nowNs = System.nanoTime()) {
                if (!window.tryAcquire(WAIT_S, TimeUnit.SECONDS)) {
                    throw new TimeoutException("no append was acknowledged in " + WAIT_S + " s over " + transport);
                }
                if (profileStart == null && config.profile() && nowNs - countFromNs >= 0) {
                    profileStart = new AppendProfile.Start();
                }
                append(cluster, number++, countFromNs, window);
            }
            if (!window.tryAcquire(config.window(), WAIT_S, TimeUnit.SECONDS)) {
                throw new TimeoutException("appends not acknowledged in " + WAIT_S + " s over " + transport);
            }
            if (failure.get() != null) {
                throw new IOException("an append over " + transport + " has failed: " + failure.get(), failure.get());
            }
            final AppendProfile profile =
                profileStart == null ? AppendProfile.NONE : profileStart.end(latencies.getTotalCount());
            verify(cluster.awaitApplied(number), number);
            return new ReplicateResult(latencies.getTotalCount() * 1e9 / config.runNs(), latencies, number, profile);
        }
    }

    private void append(final ReplicatedCluster cluster, final long number, final long countFromNs, final Semaphore window) {
        final byte[] record = new byte[config.nextPayloadBytes(ThreadLocalRandom.current())];
        ThreadLocalRandom.current().nextBytes(record);
        ByteBuffer.wrap(record).putLong(0, number);
        sum.update(record);
        final ByteString content = UnsafeByteOperations.unsafeWrap(record);
        final long sentNs = System.nanoTime();
        cluster.client().async().send(Message.valueOf(content))
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

    /** Verifies that every acknowledged record is in every log, in order, once, and unchanged. */
    void verify(final List<RecordLog.State> states, final long records) throws IOException {
        final RecordLog.State expected = new RecordLog.State(records, 0, sum.getValue());
        for (final RecordLog.State state : states) {
            if (!state.equals(expected)) {
                throw new IOException("a log over " + transport + " is " + state + " where " + expected + " was acknowledged");
            }
        }
    }
}
