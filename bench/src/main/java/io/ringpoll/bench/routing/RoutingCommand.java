package io.ringpoll.bench.routing;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll routing}: compares the ways from the poller to 1, 2 and 3 handlers, in turns, and prints for each the cost of
 * a completion at full speed and the delay at a rate.
 */
@Command(
    name = "routing",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Handlers that see all completions and skip, against routing when the poller publishes.")
public final class RoutingCommand implements Callable<Integer> {
    private static final int MAX_HANDLERS = 3;
    private static final double MEDIAN = 50.0;
    private static final double TAIL = 99.0;

    @Spec
    private CommandSpec spec;

    @Option(
        names = "--completions", paramLabel = "N", defaultValue = "4000000",
        description = "Completions of a run at full speed (${DEFAULT-VALUE}).")
    private long completions;

    @Option(
        names = "--rate", paramLabel = "N", defaultValue = "1000000",
        description = "Completions a second of a run at a rate, which takes a second (${DEFAULT-VALUE}).")
    private long rate;

    @Option(
        names = "--rounds", paramLabel = "N", defaultValue = "5",
        description = "Runs of each, in turns, after one to warm up; the median is shown (${DEFAULT-VALUE}).")
    private int rounds;

    /** Created by picocli. */
    RoutingCommand() {
    }

    /**
     * Runs the command.
     *
     * @param arguments as typed
     */
    public static void main(final String[] arguments) {
        System.exit(new CommandLine(new RoutingCommand()).execute(arguments));
    }

    @Override
    public Integer call() throws InterruptedException {
        if (completions < 1 || rounds < 1 || rate < 1 || rate > TimeUnit.SECONDS.toNanos(1)) {
            throw new ParameterException(
                spec.commandLine(), "--completions, --rounds and --rate are at least 1, the rate at most 1000000000");
        }
        final PrintWriter out = spec.commandLine().getOut();
        out.printf("%d cores; medians of %d runs in turns%n%n", Runtime.getRuntime().availableProcessors(), rounds);
        out.printf("%-34s %8s %14s %12s %12s%n", "", "handlers", "ns/completion", "p50 ns", "p99 ns");
        for (int handlers = 1; handlers <= MAX_HANDLERS; handlers++) {
            compare(out, handlers);
        }
        return CommandLine.ExitCode.OK;
    }

    private void compare(final PrintWriter out, final int handlers) throws InterruptedException {
        final Mode[] modes = Mode.values();
        final List<List<Double>> costs = new ArrayList<>();
        final List<List<Double>> medians = new ArrayList<>();
        final List<List<Double>> tails = new ArrayList<>();
        for (int i = 0; i < modes.length; i++) {
            costs.add(new ArrayList<>());
            medians.add(new ArrayList<>());
            tails.add(new ArrayList<>());
        }
        for (int round = 0; round <= rounds; round++) {
            for (int i = 0; i < modes.length; i++) {
                final double cost = new Trial(modes[i], handlers, completions, 0).run(new Histogram(3));
                final Histogram latency = new Histogram(3);
                new Trial(modes[i], handlers, rate, TimeUnit.SECONDS.toNanos(1) / rate).run(latency);
                if (round > 0) {
                    costs.get(i).add(cost);
                    medians.get(i).add((double) latency.getValueAtPercentile(MEDIAN));
                    tails.get(i).add((double) latency.getValueAtPercentile(TAIL));
                }
            }
        }
        for (int i = 0; i < modes.length; i++) {
            out.printf("%-34s %8d %14.1f %12.0f %12.0f%n", modes[i].text(), handlers, median(costs.get(i)),
                median(medians.get(i)), median(tails.get(i)));
        }
        out.flush();
    }

    private static double median(final List<Double> values) {
        Collections.sort(values);
        return values.get(values.size() / 2);
    }
}
