package io.ringpoll.bench.idle;

import io.ringpoll.device.Device;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.Peer;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.agrona.concurrent.IdleStrategy;

/**
 * A pipeline over one connection on this machine, left idle and woken.
 *
 * <p>Used by the posting thread.
 */
final class IdleTrial implements AutoCloseable {
    static final int DIGITS = 3;
    static final long MAX_NS = TimeUnit.SECONDS.toNanos(5);
    private static final int FIRST_PORT = 7900;
    private static final int PORTS = 1000;
    private static final int EVENT_TIMEOUT_MS = 5000;
    private static final long SETTLE_MS = 300;
    private static final long WAKE_UP_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long CHECK_NS = 100_000;
    private static final int SHORTEST_PAUSE_NS = 1_000_000;
    private static final int PAUSES_NS = 3_000_000;

    private final Peer peer;
    private final Connection client;
    private final Connection server;
    private final Pipeline pipeline;
    private volatile long handledNs;

    IdleTrial(final IdleStrategy strategy) {
        final String address = Device.current().address().host();
        peer = Peer.ofLocal(address);
        final String port = Integer.toString(FIRST_PORT + ThreadLocalRandom.current().nextInt(PORTS));
        try (Endpoint endpoint = peer.listen(address, port)) {
            client = peer.request(address, port).connect();
            final ConnectionRequest request = endpoint.nextRequest(EVENT_TIMEOUT_MS).orElseThrow();
            server = request.connect();
            client.nextEvent(EVENT_TIMEOUT_MS).orElseThrow();
            server.nextEvent(EVENT_TIMEOUT_MS).orElseThrow();
        }
        pipeline = Pipeline.builder()
            .name("idle")
            .idleStrategy(strategy)
            .withoutCountersFile()
            .onAll((wc, sequence, endOfBatch) -> handledNs = System.nanoTime(),
                options -> options.waitStrategy(WaitMode.YIELD))
            .start();
        pipeline.addQueue(client.completionQueue());
    }

    /** The shares of a core that the polling thread uses in successive blocks of time while the queue is empty. */
    double[] sharesOfCore(final int blocks, final long blockNs) throws InterruptedException {
        final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        final long poller = pipeline.pollerThread().threadId();
        final double[] shares = new double[blocks];
        Thread.sleep(SETTLE_MS);
        long usedNs = threads.getThreadCpuTime(poller);
        long startNs = System.nanoTime();
        for (int i = 0; i < blocks; i++) {
            TimeUnit.NANOSECONDS.sleep(blockNs);
            final long nowUsedNs = threads.getThreadCpuTime(poller);
            final long nowNs = System.nanoTime();
            shares[i] = (double) (nowUsedNs - usedNs) / (nowNs - startNs);
            usedNs = nowUsedNs;
            startNs = nowNs;
        }
        return shares;
    }

    /**
     * The time from just before a post to the handler; each post follows some milliseconds after the previous one was handled.
     */
    Histogram wakeUps(final int number) {
        final Histogram latency = new Histogram(MAX_NS, DIGITS);
        for (int i = 0; i < number; i++) {
            LockSupport.parkNanos(SHORTEST_PAUSE_NS + ThreadLocalRandom.current().nextInt(PAUSES_NS));
            handledNs = 0;
            final long startNs = System.nanoTime();
            if (!client.write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, i)) {
                throw new IllegalStateException("a post was refused");
            }
            while (handledNs == 0) {
                if (System.nanoTime() - startNs > WAKE_UP_TIMEOUT_NS) {
                    throw new IllegalStateException("the poller did not wake up within 5 s");
                }
                // Does not spin: poller and handler need a core each.
                LockSupport.parkNanos(CHECK_NS);
            }
            latency.recordValue(handledNs - startNs);
        }
        return latency;
    }

    @Override
    public void close() {
        pipeline.close();
        client.close();
        server.close();
        peer.close();
    }
}
