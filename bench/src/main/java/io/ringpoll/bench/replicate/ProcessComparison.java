package io.ringpoll.bench.replicate;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.bench.measure.JsonText;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeoutException;

/**
 * Measures groups whose servers and client are processes, for several windows. The contestants run in turns: in each round, the
 * servers of one serve a client for each window, before those of the next one start. Used by one thread.
 */
public final class ProcessComparison {
    private static final long SEED = 1;

    private final ReplicateConfig config;
    private final List<Replication> windows = new ArrayList<>();
    private final int leadIn;
    private final int rounds;
    private final List<String> launch;
    private final PrintWriter progress;

    /**
     * Prepares the runs.
     *
     * @param config      settings of each run; its window is not used
     * @param windows     windows, each with a table of its own
     * @param contestants contestants; several are compared with Netty
     * @param leadIn      unmeasured runs of each at the start
     * @param rounds      measured runs of each
     * @param launch      command line of {@code replicate}, without options
     * @param progress    receives a line for each run, and for each that waits for its first acknowledgement
     */
    public ProcessComparison(final ReplicateConfig config, final List<Integer> windows, final List<Contestant> contestants,
        final int leadIn, final int rounds, final List<String> launch, final PrintWriter progress) {
        this.config = config;
        this.leadIn = leadIn;
        this.rounds = rounds;
        this.launch = List.copyOf(launch);
        this.progress = progress;
        windows.forEach(window -> this.windows.add(
            new Replication(config.asProcesses(window), contestants, leadIn, rounds, progress)));
    }

    /**
     * Runs all.
     *
     * @throws IOException          if a server or the client fails
     * @throws InterruptedException if the calling thread is interrupted
     * @throws TimeoutException     if a client does not end
     */
    public void run() throws IOException, InterruptedException, TimeoutException {
        final Random random = new Random(SEED);
        for (int round = 1 - leadIn; round <= rounds; round++) {
            for (final Contestant each : windows.getFirst().order(random)) {
                try (ProcessGroup group = ProcessGroup.start(config, each, launch, windows.size(), progress)) {
                    for (int i = 0; i < windows.size(); i++) {
                        record(round, each, i, group.runClient(windows.get(i).window()));
                    }
                }
            }
        }
    }

    /** Prints the result of a run, and keeps it unless the round is one before the measurement; windows from 0. */
    void record(final int round, final Contestant contestant, final int window, final ReplicateResult result) {
        windows.get(window).record(round, contestant, result);
    }

    /**
     * Prints a table for each window, and the goals.
     *
     * @param out text output
     */
    public void print(final PrintWriter out) {
        windows.forEach(window -> window.printTables(out));
        Goals.print(comparisons(), out);
    }

    private List<BenchResult> comparisons() {
        return windows.stream().flatMap(each -> each.comparisons().stream()).toList();
    }

    /**
     * The figures of all windows as one JSON object.
     *
     * @return its text
     */
    public String toJson() {
        final ObjectNode root = JsonText.document(windows.getFirst().api(), comparisons());
        final ArrayNode array = root.putArray("windows");
        windows.forEach(window -> window.addTo(array.addObject()));
        return JsonText.of(root);
    }

    /**
     * Plots the commit latencies by percentile, for each window.
     *
     * @param plots folder for the plots
     */
    public void draw(final Path plots) {
        windows.forEach(window -> window.draw(plots));
    }
}
