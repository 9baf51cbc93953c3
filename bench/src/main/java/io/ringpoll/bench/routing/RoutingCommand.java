package io.ringpoll.bench.routing;

import io.ringpoll.bench.options.CheckedOptions;
import io.ringpoll.bench.options.Execution;
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
public final class RoutingCommand implements Callable<Integer>, CheckedOptions {
    private static final int MAX_HANDLERS = 3;
    private static final double MEDIAN = 50.0;
    private static final double TAIL = 99.0;
    private static final double NS_PER_US = 1000;

    @Spec
    private CommandSpec spec;

    @Option(
        names = "--completions", paramLabel = "N", defaultValue = "2000000",
        description = "Completions of a run at full speed (${DEFAULT-VALUE}).")
    private long completions;

    @Option(
        names = "--rate", paramLabel = "N", defaultValue = "200000",
        description = "Completions a second of a run at a rate, which takes a second (${DEFAULT-VALUE}).")
    private long rate;

    @Option(
        names = "--rounds", paramLabel = "N", defaultValue = "9",
        description = "Runs of each, in turns, after one to warm up (${DEFAULT-VALUE}).")
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
        System.exit(Execution.run(new RoutingCommand(), arguments));
    }

    @Override
    public void check() {
        Execution.require(spec, completions >= 1, "--completions " + completions + " is not 1 or more");
        Execution.require(spec, rounds >= 1, "--rounds " + rounds + " is not 1 or more");
        Execution.require(spec, rate >= 1 && rate <= TimeUnit.SECONDS.toNanos(1),
            "--rate " + rate + " is not from 1 to 1000000000");
    }

    @Override
    public Integer call() throws InterruptedException {
        check();
        final PrintWriter out = spec.commandLine().getOut();
        out.printf("%d cores; %d runs of each in turns: the median, and the best, which others disturbed least%n%n",
            Runtime.getRuntime().availableProcessors(), rounds);
        out.printf("%-34s %8s %20s %24s %24s%n", "", "handlers", "ns/completion, best", "p50 us, best", "p99 us, best");
        for (int handlers = 1; handlers <= MAX_HANDLERS; handlers++) {
            compare(out, handlers);
        }
        return CommandLine.ExitCode.OK;
    }

    private void compare(final PrintWriter out, final int handlers) throws InterruptedException {
        final Mode[] modes = Mode.values();
        final List<List<List<Double>>> values = new ArrayList<>();
        for (int i = 0; i < modes.length; i++) {
            values.add(List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>()));
        }
        for (int round = 0; round <= rounds; round++) {
            for (int i = 0; i < modes.length; i++) {
                final double cost = new Trial(modes[i], handlers, completions, 0).run(new Histogram(3));
                final Histogram latency = new Histogram(3);
                new Trial(modes[i], handlers, rate, TimeUnit.SECONDS.toNanos(1) / rate).run(latency);
                if (round > 0) {
                    values.get(i).get(0).add(cost);
                    values.get(i).get(1).add(latency.getValueAtPercentile(MEDIAN) / NS_PER_US);
                    values.get(i).get(2).add(latency.getValueAtPercentile(TAIL) / NS_PER_US);
                }
            }
        }
        for (int i = 0; i < modes.length; i++) {
            out.printf("%-34s %8d", modes[i].text(), handlers);
            for (final List<Double> value : values.get(i)) {
                out.printf(" %13.1f %9.1f", median(value), value.getFirst());
            }
            out.println();
        }
        out.flush();
    }

    /** The median of values, which are left in order. */
    private static double median(final List<Double> values) {
        Collections.sort(values);
        return values.get(values.size() / 2);
    }
}
