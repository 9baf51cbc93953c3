package io.ringpoll.bench.replicate;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32C;
import org.apache.ratis.client.DataStreamClient;
import org.apache.ratis.client.impl.DataStreamClientImpl.DataStreamOutputImpl;
import org.apache.ratis.protocol.ClientInvocationId;
import org.apache.ratis.protocol.DataStreamReply;
import org.apache.ratis.protocol.RaftClientReply;

/**
 * One measurement of data streams: writes streams of one length to the primary server, which forwards them to the two others, up
 * to the window at a time. Each ends with its log entry. At the end, one more stream is compared at all servers.
 */
final class StreamRun {
    private static final int WAIT_S = 60;
    private static final int BYTES_PER_MB = 1_000_000;
    private static final double NS_PER_S = 1e9;
    private static final double NS_PER_US = 1e3;
    private static final OperatingSystemMXBean PROCESS =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final ReplicateConfig config;
    private final int streamBytes;
    private final int writeBytes;
    private final Contestant contestant;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicLong completed = new AtomicLong();

    /**
     * Prepares a run.
     *
     * @param streamBytes length of a stream
     * @param writeBytes  length of a write
     */
    StreamRun(final ReplicateConfig config, final int streamBytes, final int writeBytes, final Contestant contestant) {
        this.config = config;
        this.streamBytes = streamBytes;
        this.writeBytes = writeBytes;
        this.contestant = contestant;
    }

    /**
     * The result of a run.
     *
     * @param megabytesPerSecond bytes of completed streams by elapsed time
     * @param cpuUsPerMegabyte   processor time of this process, which contains the client and the servers, for each MB
     */
    record Result(double megabytesPerSecond, double cpuUsPerMegabyte) {
    }

    /** Measures, then verifies one stream. */
    Result run() throws IOException, InterruptedException, TimeoutException {
        final byte[] bytes = new byte[streamBytes];
        ThreadLocalRandom.current().nextBytes(bytes);
        final ByteBuffer data = ByteBuffer.allocateDirect(streamBytes).put(bytes).flip();
        try (ReplicatedCluster cluster = ReplicatedCluster.start(config, contestant);
            DataStreamClient client = cluster.streams()) {
            final Semaphore window = new Semaphore(config.window());
            final long startNs = System.nanoTime();
            stream(client, data, window, startNs + config.warmUpNs());
            final long before = completed.get();
            final long cpuNs = PROCESS.getProcessCpuTime();
            final long countNs = System.nanoTime();
            stream(client, data, window, countNs + config.runNs());
            if (!window.tryAcquire(config.window(), WAIT_S, TimeUnit.SECONDS)) {
                throw new TimeoutException("streams have not ended over " + contestant.name());
            }
            final double elapsedNs = System.nanoTime() - countNs;
            final double usedNs = PROCESS.getProcessCpuTime() - cpuNs;
            if (failure.get() != null) {
                throw new IOException("a stream over " + contestant.name() + " has failed: " + failure.get(), failure.get());
            }
            verify(cluster, client, data);
            final double megabytes = (completed.get() - before) * (double) streamBytes / BYTES_PER_MB;
            return new Result(megabytes * NS_PER_S / elapsedNs, usedNs / NS_PER_US / megabytes);
        }
    }

    private void stream(final DataStreamClient client, final ByteBuffer data, final Semaphore window, final long endNs)
        throws InterruptedException, TimeoutException {
        while (System.nanoTime() - endNs < 0 && failure.get() == null) {
            if (!window.tryAcquire(WAIT_S, TimeUnit.SECONDS)) {
                throw new TimeoutException("no stream has ended in " + WAIT_S + " s over " + contestant.name());
            }
            write((DataStreamOutputImpl) client.stream((ByteBuffer) null), data).whenComplete((reply, failed) -> {
                if (failed != null || !reply.isSuccess()) {
                    failure.compareAndSet(null, failed != null ? failed : new IOException(reply.toString()));
                }
                completed.incrementAndGet();
                window.release();
            });
        }
    }

    /** Writes a stream; the result is that of its log entry, unless a write fails before. */
    private CompletableFuture<RaftClientReply> write(final DataStreamOutputImpl stream, final ByteBuffer data) {
        final List<CompletableFuture<DataStreamReply>> writes = new ArrayList<>();
        for (int from = 0; from < streamBytes; from += writeBytes) {
            writes.add(stream.writeAsync(data.slice(from, Math.min(writeBytes, streamBytes - from))));
        }
        stream.closeAsync();
        return CompletableFuture.allOf(writes.toArray(CompletableFuture[]::new)).thenCompose(done -> {
            for (final CompletableFuture<DataStreamReply> write : writes) {
                if (!write.join().isSuccess()) {
                    return CompletableFuture.failedFuture(new IOException(write.join().toString()));
                }
            }
            return stream.getRaftClientReplyFuture();
        });
    }

    private void verify(final ReplicatedCluster cluster, final DataStreamClient client, final ByteBuffer data)
        throws IOException, InterruptedException, TimeoutException {
        final DataStreamOutputImpl stream =
            (DataStreamOutputImpl) client.stream(ByteBuffer.wrap(StreamLog.SUMMED.getBytes(StandardCharsets.UTF_8)));
        try {
            write(stream, data).get(WAIT_S, TimeUnit.SECONDS);
        } catch (final ExecutionException e) {
            throw new IOException("a stream over " + contestant.name() + " has failed: " + e.getCause(), e);
        }
        final CRC32C sum = new CRC32C();
        sum.update(data.duplicate());
        final String expected = StreamLog.text(streamBytes, sum);
        for (final String actual : cluster.sumsOf(ClientInvocationId.valueOf(stream.getHeader()))) {
            if (!expected.equals(actual)) {
                throw new IOException(
                    "a server has " + actual + " where " + expected + " were written over " + contestant.name());
            }
        }
    }
}
