package io.ringpoll.bench.throughput;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.bench.link.Purpose;
import io.ringpoll.bench.link.RemoteLink;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.Spread;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.device.Device;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Measures operations per second to a server in another process, with a fixed number of them in flight. Used by one thread. */
public final class RemoteThroughput {
    private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long REST_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long STALL_NS = TimeUnit.SECONDS.toNanos(60);
    private static final double NS_PER_SECOND = 1e9;
    private static final double BYTES_PER_MB = 1e6;

    private final RemoteConfig config;
    private final PrintWriter turns;
    private final double[] perSecond;

    /**
     * Creates a measurement.
     *
     * @param config its settings
     * @param turns  receives a line for each round; null for none
     */
    public RemoteThroughput(final RemoteConfig config, final PrintWriter turns) {
        this.config = config;
        this.turns = turns;
        perSecond = new double[config.rounds()];
    }

    /**
     * Measures.
     *
     * @param host address of the server
     * @param port port of the server
     * @throws IllegalStateException if there is no server, it has gone, or the pipeline of this end has failed
     * @throws TimeoutException      if operations do not complete
     */
    public void run(final String host, final int port) throws TimeoutException {
        try (RemoteLink link = RemoteLink.connect(config.api(), host, port, Purpose.CONSUME)) {
            final SaturatingHandler handler =
                new SaturatingHandler(link.client(), config.operation(), config.sizeBytes(), config.depth());
            // Before the threads start: from then on the handler thread posts.
            handler.start();
            final PipelineBuilder builder = config.runToCompletion() ?
                config.threads().runToCompletion("bench-client", config.threads().cpus().poller(), handler, link.queues()) :
                config.threads().pipeline(handler, link.queues());
            try (Pipeline pipeline = builder.start()) {
                observe(link, handler, pipeline, TimeUnit.MILLISECONDS.toNanos(config.leadInMs()));
                for (int round = -config.warmUp(); round < config.rounds(); round++) {
                    final double rate = observe(link, handler, pipeline, TimeUnit.MILLISECONDS.toNanos(config.windowMs()));
                    if (round >= 0) {
                        perSecond[round] = rate;
                        show(round);
                    }
                }
                handler.stop();
                Timing.await(handler::isAtRest, System.nanoTime() + REST_NS, "the last operations' completions");
                HotThreads.requireSound(pipeline);
                link.check(handler.hasFailed());
            }
            link.sayGoodbye();
        }
    }

    /** Waits for a time; the completed operations per second. */
    private double observe(final RemoteLink link, final SaturatingHandler handler, final Pipeline pipeline,
        final long lengthNs) throws TimeoutException {
        final long firstNs = System.nanoTime();
        final long first = handler.completed();
        long progressNs = firstNs;
        long seen = first;
        while (System.nanoTime() - firstNs < lengthNs) {
            Timing.sleepUntil(Math.min(firstNs + lengthNs, System.nanoTime() + CHECK_NS));
            HotThreads.requireSound(pipeline);
            link.check(handler.hasFailed());
            final long nowNs = System.nanoTime();
            if (handler.completed() != seen) {
                seen = handler.completed();
                progressNs = nowNs;
            } else if (nowNs - progressNs > STALL_NS) {
                throw new TimeoutException("nothing has completed for " + TimeUnit.NANOSECONDS.toSeconds(STALL_NS) + " s");
            }
        }
        return (handler.completed() - first) * NS_PER_SECOND / (System.nanoTime() - firstNs);
    }

    private void show(final int round) {
        if (turns != null) {
            turns.printf(Locale.ROOT, "%3d %,14.0f operations/s%n", round, perSecond[round]);
            turns.flush();
        }
    }

    /**
     * Prints the result.
     *
     * @param out for people
     */
    public void print(final PrintWriter out) {
        final Spread spread = Spread.of(perSecond);
        out.printf(Locale.ROOT, "%n%s: %,.0f operations/s (+- %,.0f), %,.1f MB/s; median of %d rounds%n", name(),
            spread.median(), spread.width(), megabytes(spread.median()), spread.runs());
        out.flush();
    }

    /**
     * The result as one JSON object.
     *
     * @return its text
     */
    public String toJson() {
        final Spread spread = Spread.of(perSecond);
        final ObjectNode root = JsonText.document(config.api(), List.of());
        root.put("name", name()).put("operationsPerSecond", spread.median()).put("spread", spread.width())
            .put("megabytesPerSecond", megabytes(spread.median()));
        final ArrayNode rounds = root.putArray("rounds");
        for (final double rate : perSecond) {
            rounds.add(rate);
        }
        return JsonText.of(root);
    }

    private String name() {
        return "throughput/" + Device.current().kind().name().toLowerCase(Locale.ROOT) + config.api().pathSuffix() +
            "/to-server/" + config.operation().name().toLowerCase(Locale.ROOT) + "/" + config.sizeBytes() + "-bytes/" +
            config.depth() + "-in-flight";
    }

    private double megabytes(final double rate) {
        return rate * config.sizeBytes() / BYTES_PER_MB;
    }
}
