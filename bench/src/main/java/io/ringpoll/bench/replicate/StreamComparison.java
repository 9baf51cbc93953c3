package io.ringpoll.bench.replicate;

import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.Spread;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;

/** Runs data streams over ringpoll and Netty in turns and reports their throughput. Used by one thread. */
public final class StreamComparison {
    /** Length of a write: a longer stream is written in several. */
    public static final int WRITE_BYTES = 1 << 20;

    private static final double NS_PER_S = 1e9;

    private final ReplicateConfig config;
    private final int streamBytes;
    private final List<Contestant> contestants;
    private final int rounds;
    private final PrintWriter progress;
    private final Map<Contestant, double[]> megabytesPerSecond = new LinkedHashMap<>();
    private final Map<Contestant, double[]> cpuUsPerMegabyte = new LinkedHashMap<>();

    /**
     * Prepares the runs.
     *
     * @param config      settings of each run; the window is the number of streams at a time
     * @param streamBytes length of a stream
     * @param contestants contestants; several are compared with the last one
     * @param rounds      measured runs of each
     * @param progress    receives a line for each run
     */
    public StreamComparison(final ReplicateConfig config, final int streamBytes, final List<Contestant> contestants,
        final int rounds, final PrintWriter progress) {
        this.config = config;
        this.streamBytes = streamBytes;
        this.contestants = List.copyOf(contestants);
        this.rounds = rounds;
        this.progress = progress;
        this.contestants.forEach(each -> {
            megabytesPerSecond.put(each, new double[rounds]);
            cpuUsPerMegabyte.put(each, new double[rounds]);
        });
    }

    /**
     * Runs all.
     *
     * @throws IOException          if a server or the client fails, or a server has other bytes
     * @throws InterruptedException if the calling thread is interrupted
     * @throws TimeoutException     if no stream ends for too long
     */
    public void run() throws IOException, InterruptedException, TimeoutException {
        for (int round = 0; round < rounds; round++) {
            final List<Contestant> order = round % 2 == 0 ? contestants : contestants.reversed();
            for (final Contestant each : order) {
                record(round, each, new StreamRun(config, streamBytes, Math.min(streamBytes, WRITE_BYTES), each).run());
            }
        }
    }

    /** Prints the result of a run, and keeps it; rounds from 0. */
    void record(final int round, final Contestant contestant, final StreamRun.Result result) {
        megabytesPerSecond.get(contestant)[round] = result.megabytesPerSecond();
        cpuUsPerMegabyte.get(contestant)[round] = result.cpuUsPerMegabyte();
        progress.printf("%s, run %d of %d: %.0f MB/s, %.0f us of processor time for each MB%n", contestant.name(), round + 1,
            rounds, result.megabytesPerSecond(), result.cpuUsPerMegabyte());
        progress.flush();
    }

    /** The time of a stream beside that of the last contestant; empty without a comparison. */
    private List<BenchResult> comparisons() {
        final List<BenchResult> figures = new ArrayList<>();
        final Contestant baseline = contestants.getLast();
        for (final Contestant each : contestants) {
            if (each != baseline) {
                figures.add(BenchResult.ofCosts("replicate/" + each.name() + "/stream-" + streamBytes + "/window-" +
                    config.window(), costs(each), costs(baseline), baseline.name()));
            }
        }
        return figures;
    }

    private double[] costs(final Contestant contestant) {
        final double[] rates = megabytesPerSecond.get(contestant).clone();
        for (int i = 0; i < rates.length; i++) {
            rates[i] = streamBytes / (rates[i] * 1e6) * NS_PER_S;
        }
        return rates;
    }

    /**
     * Prints the table, and the goals.
     *
     * @param out text output
     */
    public void print(final PrintWriter out) {
        out.printf("streams of %d bytes in writes of %d, %d at a time, log in %s; medians of %d runs%n", streamBytes,
            Math.min(streamBytes, WRITE_BYTES), config.window(), config.memoryLog() ? "memory" : "files", rounds);
        out.printf("%-40s %12s %18s %12s%n", "transport", "MB/s", "quartiles", "CPU us/MB");
        megabytesPerSecond.forEach((each, rates) -> {
            final Spread spread = Spread.of(rates);
            out.printf("%-40s %12.0f %18s %12.0f%n", each.name(), spread.median(),
                String.format("%.0f to %.0f", spread.lowerQuartile(), spread.upperQuartile()),
                Spread.of(cpuUsPerMegabyte.get(each)).median());
        });
        comparisons().forEach(result -> out.printf("  %s: %s of the time of %s, %s, over %d runs%n", result.name(),
            result.ratioText(), contestants.getLast().name(), result.difference(), result.runs()));
        out.println("one stream of each run was read back at all servers: equal");
        Goals.print(comparisons(), out);
    }

    /**
     * The figures as one JSON object.
     *
     * @return its text
     */
    public String toJson() {
        final var root = JsonText.document(Contestant.api(contestants), comparisons());
        root.put("streamBytes", streamBytes).put("window", config.window()).put("log", config.memoryLog() ? "memory" : "disk")
            .put("runs", rounds);
        megabytesPerSecond.forEach((each, rates) ->
            root.putObject(each.name()).put("megabytesPerSecond", Spread.of(rates).median())
                .put("cpuUsPerMegabyte", Spread.of(cpuUsPerMegabyte.get(each)).median()));
        return JsonText.of(root);
    }
}
