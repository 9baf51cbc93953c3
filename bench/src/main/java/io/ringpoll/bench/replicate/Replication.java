package io.ringpoll.bench.replicate;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.Spread;
import io.ringpoll.bench.plot.PercentilePlot;
import io.ringpoll.internal.rc.RdmaApi;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * Runs the contestants in turns and reports their figures: as a table, as JSON and as plots. The order of a round is random, by a
 * fixed seed. Used by one thread.
 */
public final class Replication {
    private static final double MEDIAN = 50;
    private static final double TAIL = 99;
    private static final double NS_PER_US = 1e3;
    private static final double NS_PER_SECOND = 1e9;
    private static final long SEED = 1;

    private final ReplicateConfig config;
    private final List<Contestant> contestants;
    private final int leadIn;
    private final int rounds;
    private final PrintWriter progress;
    private final Map<Contestant, List<ReplicateResult>> results = new LinkedHashMap<>();

    /**
     * Prepares the runs.
     *
     * @param config      settings of each run
     * @param contestants contestants; several are compared with Netty
     * @param leadIn      unmeasured runs of each at the start
     * @param rounds      measured runs of each
     * @param progress    receives a line for each run
     */
    public Replication(final ReplicateConfig config, final List<Contestant> contestants, final int leadIn, final int rounds,
        final PrintWriter progress) {
        this.config = config;
        // One that is given twice would have more runs than the others.
        this.contestants = contestants.stream().distinct().toList();
        this.contestants.forEach(each -> results.put(each, new ArrayList<>()));
        this.leadIn = leadIn;
        this.rounds = rounds;
        this.progress = progress;
    }

    /**
     * Runs all.
     *
     * @throws IOException          if a server or the client fails
     * @throws InterruptedException if the calling thread is interrupted
     * @throws TimeoutException     if nothing is acknowledged for too long
     */
    public void run() throws IOException, InterruptedException, TimeoutException {
        final Random random = new Random(SEED);
        for (int round = 1 - leadIn; round <= rounds; round++) {
            for (final Contestant each : order(random)) {
                record(round, each, new ReplicateRun(config, each).run());
            }
        }
    }

    /** The contestants in the order of the next round. */
    List<Contestant> order(final Random random) {
        final List<Contestant> order = new ArrayList<>(contestants);
        Collections.shuffle(order, random);
        return order;
    }

    /** Prints the result of a run, and keeps it unless it is one before the measurement. */
    void record(final int round, final Contestant contestant, final ReplicateResult result) {
        say(round, contestant, result);
        if (round > 0) {
            add(contestant, result);
        }
    }

    RdmaApi api() {
        return Contestant.api(contestants);
    }

    int window() {
        return config.window();
    }

    void add(final Contestant contestant, final ReplicateResult result) {
        results.get(contestant).add(result);
    }

    /** Each figure of each contestant, compared with Netty's; empty without a comparison. */
    List<BenchResult> comparisons() {
        final List<BenchResult> figures = new ArrayList<>();
        if (isComparison()) {
            final List<ReplicateResult> theirs = netty();
            results.forEach((each, ours) -> {
                if (each.transport() != Transport.NETTY) {
                    final String name =
                        "replicate/" + each.name() + "/" + config.payloadText() + "-bytes/window-" + config.window() + "/" +
                            config.clusterName();
                    figures.add(compared(name + "append", ours, theirs, run -> NS_PER_SECOND / run.appendsPerSecond()));
                    figures.add(compared(name + "p50", ours, theirs, run -> run.percentileUs(MEDIAN) * NS_PER_US));
                    figures.add(compared(name + "p99", ours, theirs, run -> run.percentileUs(TAIL) * NS_PER_US));
                }
            });
        }
        return figures;
    }

    private static BenchResult compared(final String name, final List<ReplicateResult> ours, final List<ReplicateResult> theirs,
        final ToDoubleFunction<ReplicateResult> costNs) {
        return BenchResult.ofCosts(name, ours.stream().mapToDouble(costNs).toArray(),
            theirs.stream().mapToDouble(costNs).toArray(), "netty");
    }

    private List<ReplicateResult> netty() {
        return results.entrySet().stream().filter(each -> each.getKey().transport() == Transport.NETTY).findFirst()
            .orElseThrow().getValue();
    }

    /**
     * Plots the commit latencies by percentile.
     *
     * @param plots folder for the plots
     */
    public void draw(final Path plots) {
        final Map<String, Histogram> histograms = new LinkedHashMap<>();
        results.forEach((each, runs) -> {
            final Histogram all = new Histogram(runs.get(0).latencies());
            runs.forEach(run -> all.add(run.latencies()));
            histograms.put(each.name(), all);
        });
        final String title = "Commit latency, records of " + config.payloadText() + " bytes, window " + config.window() +
            (config.processes() ? ", processes" : "");
        PercentilePlot.draw(title, histograms, plots, "replicate-" + config.payloadText() + "-" + config.window());
    }

    /**
     * Prints the tables, and the goals.
     *
     * @param out text output
     */
    public void print(final PrintWriter out) {
        printTables(out);
        Goals.print(comparisons(), out);
    }

    void printTables(final PrintWriter out) {
        contestants.stream().filter(each -> each.transport() == Transport.RINGPOLL).map(each -> each.api().deviceLine())
            .distinct().forEach(out::println);
        out.printf("%d servers, groups: %d, records of %s bytes, window %d, log in %s%s; medians of %d runs of %d s%n",
            config.servers(), config.groups(), config.payloadText(), config.window(), config.memoryLog() ? "memory" : "files",
            config.processes() ? "; all processes of their own" : "", rounds, seconds());
        out.printf("%-28s %12s %12s %12s %16s%n", "transport", "appends/s", "p50 us", "p99 us",
            config.processes() ? "" : "verified records");
        results.forEach((each, runs) -> out.printf("%-28s %12.0f %12.1f %12.1f %16s%n", each.name(), rate(runs), p50(runs),
            p99(runs), config.processes() ? "" : Long.toString(verified(runs))));
        if (isComparison()) {
            out.println("costs beside netty's, run by run; append is the time of one");
            comparisons().forEach(result -> out.printf("  %s: %s of netty's, %s, over %d runs%n", result.name(),
                result.ratioText(), result.difference(), result.runs()));
        }
        if (config.profile()) {
            results.forEach((each, runs) -> profile(runs).print(out, each.name()));
        }
    }

    /**
     * The figures of each contestant as one JSON object; in a comparison, {@code results} has the costs relative to Netty.
     *
     * @return its text
     */
    public String toJson() {
        final ObjectNode root = JsonText.document(api(), comparisons());
        addTo(root);
        return JsonText.of(root);
    }

    /** Adds settings and figures. */
    void addTo(final ObjectNode root) {
        root.put("payloadBytes", config.payloadBytes()).put("maxPayloadBytes", config.maxPayloadBytes())
            .put("window", config.window()).put("servers", config.servers()).put("groups", config.groups())
            .put("log", config.memoryLog() ? "memory" : "disk").put("seconds", seconds()).put("runs", rounds);
        results.forEach((each, runs) -> {
            final ObjectNode figures = root.putObject(each.name()).put("appendsPerSecond", rate(runs))
                .put("p50us", p50(runs)).put("p99us", p99(runs)).put("verifiedRecords", verified(runs));
            if (config.profile()) {
                profile(runs).addTo(figures);
            }
        });
    }

    /** Prints the end of each run: runs are long and differ. */
    private void say(final int round, final Contestant contestant, final ReplicateResult result) {
        progress.printf("%s, %s: %.0f appends/s, p50 %.1f us, p99 %.1f us%n", contestant.name(),
            round > 0 ? "run " + round + " of " + rounds : "before", result.appendsPerSecond(), result.percentileUs(MEDIAN),
            result.percentileUs(TAIL));
        progress.flush();
    }

    private static AppendProfile profile(final List<ReplicateResult> runs) {
        return runs.stream().map(ReplicateResult::profile).reduce(AppendProfile.NONE, AppendProfile::plus);
    }

    private boolean isComparison() {
        return contestants.size() > 1;
    }

    private long seconds() {
        return TimeUnit.NANOSECONDS.toSeconds(config.runNs());
    }

    private static double rate(final List<ReplicateResult> runs) {
        return median(runs, ReplicateResult::appendsPerSecond);
    }

    private static double p50(final List<ReplicateResult> runs) {
        return median(runs, run -> run.percentileUs(MEDIAN));
    }

    private static double p99(final List<ReplicateResult> runs) {
        return median(runs, run -> run.percentileUs(TAIL));
    }

    private static long verified(final List<ReplicateResult> runs) {
        return runs.stream().mapToLong(ReplicateResult::verified).sum();
    }

    private static double median(final List<ReplicateResult> runs, final ToDoubleFunction<ReplicateResult> figure) {
        return Spread.of(runs.stream().mapToDouble(figure).toArray()).median();
    }
}
