package io.ringpoll.bench.replicate;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.util.TimeDuration;

/**
 * The client of a group of processes: appends numbered records of its own series for a time, retries failed ones, and writes the
 * acknowledged ones to a file, and the latencies to another one.
 */
public final class ClientRole {
    /** The shortest record, in bytes. */
    public static final int SHORTEST_RECORD = NumberedRecord.MIN_BYTES;

    /** Begins the line that is printed while the first record is not acknowledged. */
    static final String WAITS = "no record is acknowledged yet";

    private static final int WAIT_S = 120;
    /** Time after which the client states what it waits for: servers that have just started need an election. */
    private static final int PATIENCE_S = 5;
    private static final double NS_PER_US = 1_000;
    private static final long NS_PER_MS = 1_000_000;
    private static final long PROGRESS_NS = TimeUnit.SECONDS.toNanos(1);
    /** Pauses from this length on are printed. */
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final RoleConfig config;
    private final Contestant contestant;
    private final ReplicateConfig load;
    private final Path latenciesFile;
    private final Random random = new Random();
    private final Histogram latencies = new Histogram(TimeUnit.SECONDS.toNanos(WAIT_S), 3);
    private Acknowledgements acknowledgements;
    private Throwable failure;
    private PrintWriter out;
    private long records;
    private boolean isRecording;
    private long recordFromNs;
    private long lastNs;
    private long nextProgressNs;
    private long longestPauseNs;

    /**
     * Prepares a client.
     *
     * @param config        of the process
     * @param contestant    the transport, and its settings
     * @param load          lengths of the records, window, and times; latencies are recorded after the warm-up
     * @param latenciesFile file for the histogram of the latencies; null for none
     */
    public ClientRole(final RoleConfig config, final Contestant contestant, final ReplicateConfig load,
        final Path latenciesFile) {
        this.config = config;
        this.contestant = contestant;
        this.load = load;
        this.latenciesFile = latenciesFile;
    }

    /**
     * Appends until the time is over.
     *
     * @param lines receives the progress
     * @return 0 on success
     * @throws IOException          if the client fails
     * @throws InterruptedException if the calling thread is interrupted
     * @throws TimeoutException     if nothing is acknowledged for too long
     */
    public int run(final PrintWriter lines) throws IOException, InterruptedException, TimeoutException {
        out = lines;
        final RaftProperties properties = new RaftProperties();
        contestant.transport().choose(properties);
        RaftClientConfigKeys.Async.setOutstandingRequestsMax(properties, load.window() + 1);
        contestant.properties().forEach(properties::set);
        final long series = random.nextLong();
        try (Acknowledgements file = new Acknowledgements(config.acknowledged());
            RaftClient client = RaftClient.newBuilder().setProperties(properties).setRaftGroup(config.group())
                .setRetryPolicy(RetryPolicies.retryForeverWithSleep(TimeDuration.valueOf(100, TimeUnit.MILLISECONDS))).build()) {
            acknowledgements = file;
            final Semaphore free = new Semaphore(load.window());
            final long durationNs = load.warmUpNs() + load.runNs();
            long endNs = System.nanoTime() + durationNs;
            for (long number = 0; System.nanoTime() - endNs < 0; number++) {
                acquire(free, 1);
                append(client, new NumberedRecord(series, number), free);
                TimeUnit.MILLISECONDS.sleep(config.everyMs());
                if (number == 0) {
                    // After the first acknowledgement, every pause is caused by the group. The time starts then, too.
                    if (!free.tryAcquire(load.window(), PATIENCE_S, TimeUnit.SECONDS)) {
                        lines.printf("%s, after %d s: %s have no leader, cannot be reached, or have no place for a further" +
                            " client, which they log; start a majority of them, with the same --peers%s%n", WAITS,
                            PATIENCE_S, String.join(",", config.peers()),
                            contestant.transport() == Transport.RINGPOLL ? " and the same raft.rdma.secret.file" : "");
                        lines.flush();
                        acquire(free, load.window());
                    }
                    free.release(load.window());
                    endNs = System.nanoTime() + durationNs;
                    beginRecording(endNs - load.runNs());
                }
            }
            acquire(free, load.window());
        }
        synchronized (this) {
            if (latenciesFile != null) {
                ClientLatencies.write(latenciesFile, latencies, load.runNs());
            }
            lines.printf("acknowledged %d records; p50 %.0f us, p99 %.0f us; longest pause %d ms%n", records,
                latencies.getValueAtPercentile(50) / NS_PER_US, latencies.getValueAtPercentile(99) / NS_PER_US,
                longestPauseNs / NS_PER_MS);
            lines.flush();
        }
        return 0;
    }

    private synchronized void beginRecording(final long fromNs) {
        recordFromNs = fromNs;
        isRecording = true;
    }

    private void acquire(final Semaphore free, final int permits) throws IOException, InterruptedException, TimeoutException {
        if (!free.tryAcquire(permits, WAIT_S, TimeUnit.SECONDS)) {
            throw new TimeoutException("no append was acknowledged in " + WAIT_S + " s");
        }
        synchronized (this) {
            if (failure != null) {
                throw new IOException("an append has failed: " + failure, failure);
            }
        }
    }

    private void append(final RaftClient client, final NumberedRecord record, final Semaphore free) {
        final Message message = Message.valueOf(record.toBytes(load.nextPayloadBytes(random), random));
        final long sentNs = System.nanoTime();
        client.async().send(message).whenComplete((reply, failed) -> {
            acknowledged(record, reply, failed, sentNs);
            free.release();
        });
    }

    private synchronized void acknowledged(final NumberedRecord record, final RaftClientReply reply, final Throwable failed,
        final long sentNs) {
        final long nowNs = System.nanoTime();
        if (failed != null || !reply.isSuccess()) {
            failure = failed != null ? failed : reply.getException();
            return;
        }
        try {
            acknowledgements.add(record);
        } catch (final IOException e) {
            failure = e;
        }
        records++;
        if (load.warmUpNs() == 0 || isRecording && sentNs - recordFromNs >= 0) {
            latencies.recordValue(Math.min(latencies.getHighestTrackableValue(), nowNs - sentNs));
        }
        report(record, nowNs);
        lastNs = nowNs;
    }

    private void report(final NumberedRecord record, final long nowNs) {
        if (lastNs == 0) {
            nextProgressNs = nowNs;
        } else {
            longestPauseNs = Math.max(longestPauseNs, nowNs - lastNs);
            if (nowNs - lastNs > PAUSE_NS) {
                out.printf("nothing was acknowledged for %d ms before record %d%n", (nowNs - lastNs) / NS_PER_MS,
                    record.number());
            }
        }
        if (nowNs - nextProgressNs >= 0) {
            out.println(records + " records acknowledged");
            out.flush();
            nextProgressNs = nowNs + PROGRESS_NS;
        }
    }
}
