package io.ringpoll.bench.verbs;

import io.ringpoll.bench.baseline.CVerbsLink;
import io.ringpoll.bench.link.LinkedPair;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.bench.measure.Interval;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.MachineReport;
import io.ringpoll.device.Device;
import io.ringpoll.internal.rc.RdmaApi;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

/** The measurement in a JVM of its own, on the device of the machine: JSON on standard output, a table on the other one. */
public final class VerbsTool {
    private static final int PORT = 7494;
    private static final long SEED = 1;
    private static final int JVM_MS = 2_500;
    private static final int MEASUREMENTS = 22;
    private static final String SINGLE_POSTS = "single-posts";
    private static final String BARE = "bare-calls";

    private VerbsTool() {
    }

    /** Two costs, measured in turns. */
    private record Pair(String name, String baseline, DoubleSupplier ours, DoubleSupplier theirs, List<double[]> rounds) {
        void measure(final boolean oursFirst) {
            final double first = oursFirst ? ours.getAsDouble() : theirs.getAsDouble();
            final double second = oursFirst ? theirs.getAsDouble() : ours.getAsDouble();
            rounds.add(oursFirst ? new double[] {first, second} : new double[] {second, first});
        }

        BenchResult result() {
            return BenchResult.ofCosts(name, rounds.stream().mapToDouble(round -> round[0]).toArray(),
                rounds.stream().mapToDouble(round -> round[1]).toArray(), baseline);
        }
    }

    /** The time of a turn. */
    private static long windowMs(final String effort) {
        return "glance".equals(effort) ? 5 : 60;
    }

    private static int rounds(final String effort) {
        return switch (effort) {
            case "glance" -> 1;
            case "full" -> 30;
            default -> 2 * Interval.FEWEST_RUNS;
        };
    }

    private static int warmUps(final String effort) {
        return "glance".equals(effort) ? 0 : 4;
    }

    /**
     * The duration on an idle machine.
     *
     * @param effort {@code glance}, {@code quick}, {@code usual} or {@code full}
     * @return nanoseconds
     */
    public static long expectedNs(final String effort) {
        return TimeUnit.MILLISECONDS.toNanos(
            JVM_MS + (long) (rounds(effort) + warmUps(effort)) * MEASUREMENTS * windowMs(effort));
    }

    /**
     * Measures.
     *
     * @param args the effort, as above, and {@code --json}, which changes nothing
     */
    public static void main(final String... args) {
        final PrintWriter out = new PrintWriter(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        final PrintWriter log = new PrintWriter(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        log.println(MachineReport.line());
        log.println(MachineReport.jvmLine());
        final List<BenchResult> results = measure(Device.current().address().host(), args[0]);
        for (final BenchResult result : results) {
            log.printf(Locale.ROOT, "%-28s %8.1f ns, %s %8.1f ns, ratio %s%n", result.name(), result.ringpoll(),
                result.baselineName(), result.baseline(), result.ratioText());
        }
        Goals.print(results, log);
        out.println(JsonText.of(JsonText.document(results)));
        System.exit(0);
    }

    /** Measures on the device of an address. */
    static List<BenchResult> measure(final String host, final String effort) {
        final long windowNs = TimeUnit.MILLISECONDS.toNanos(windowMs(effort));
        // Not the same ends: the lists have unsignaled requests, after which a budget reads the polled records.
        try (VerbsEnds listEnds = new VerbsEnds(host); PostTimes posts = new PostTimes(listEnds);
            VerbsEnds ends = new VerbsEnds(host); LinkedPair rpma = new LinkedPair(RdmaApi.RPMA, host, PORT);
            CVerbsLink c = CVerbsLink.open(host, Integer.toString(PORT + 1))) {
            final RoundTrips trips = new RoundTrips(ends, rpma, c);
            final List<Pair> pairs = new ArrayList<>();
            for (final PostTimes.Kind kind : PostTimes.Kind.values()) {
                pairs.add(new Pair("verbs/list-of-16/" + kind.name().toLowerCase(Locale.ROOT), SINGLE_POSTS,
                    () -> posts.costNs(kind, true, windowNs), () -> posts.costNs(kind, false, windowNs), new ArrayList<>()));
            }
            for (final boolean read : new boolean[] {false, true}) {
                final String name = "verbs/post/" + (read ? "read" : "write") + "/64-bytes";
                pairs.add(new Pair(name, "c", () -> trips.verbsNs(read, windowNs), () -> trips.inCNs(read, windowNs),
                    new ArrayList<>()));
                pairs.add(new Pair(name, BARE, () -> trips.verbsNs(read, windowNs), () -> trips.bareNs(read, windowNs),
                    new ArrayList<>()));
                pairs.add(new Pair(name + "-by-bare-calls", "c", () -> trips.bareNs(read, windowNs),
                    () -> trips.inCNs(read, windowNs), new ArrayList<>()));
                pairs.add(new Pair(name, "librpma", () -> trips.verbsNs(read, windowNs), () -> trips.rpmaNs(read, windowNs),
                    new ArrayList<>()));
            }
            final Random random = new Random(SEED);
            for (int round = -warmUps(effort); round < rounds(effort); round++) {
                if (round == 0) {
                    pairs.forEach(pair -> pair.rounds().clear());
                }
                final List<Pair> order = new ArrayList<>(pairs);
                Collections.shuffle(order, random);
                System.gc();
                order.forEach(pair -> pair.measure(random.nextBoolean()));
            }
            return pairs.stream().map(Pair::result).toList();
        }
    }
}
