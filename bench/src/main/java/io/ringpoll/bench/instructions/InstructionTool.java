package io.ringpoll.bench.instructions;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Counts the instructions of one kind of work, done by ringpoll and by its baseline. Each kind runs in its own JVM, because
 * compiled code depends on the work before. Prints JSON.
 *
 * <p>Exit codes: 0; 1 if threads cannot be traced or do not work; 2 for wrong usage.
 */
public final class InstructionTool {
    /** Odd: the result is the run with the median number of instructions. */
    private static final int RUNS = 3;
    private static final int STEPS = 50_000;
    private static final int WARM_UP_MS = 2_000;

    private static final int MOST_WARM_UPS = 10;
    private static final long WORK_NS = TimeUnit.SECONDS.toNanos(60);
    /** A thread that yields executes a few instructions of the JVM in the steady state, too. */
    private static final double STEADY_SHARE = 0.95;

    private static final int GLANCE_STEPS = 5_000;
    private static final int GLANCE_WARM_UP_MS = 200;

    private InstructionTool() {
    }

    /**
     * The names of all kinds of work.
     *
     * @return as in results
     */
    public static List<String> labels() {
        return Stream.of(InstructionPoint.values()).map(InstructionPoint::label).toList();
    }

    /**
     * The duration of one kind of work on an idle machine.
     *
     * @param glance whether a short run checks only that it works
     * @return nanoseconds
     */
    public static long expectedNs(final boolean glance) {
        return TimeUnit.MILLISECONDS.toNanos(glance ? 3_000 : 1_500 + 2 * RUNS * (WARM_UP_MS + 1_500));
    }

    /**
     * Counts.
     *
     * @param args one of {@link #labels()}; {@code full} or {@code glance}; and {@code --json}, which has no effect
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(final String... args) throws InterruptedException {
        System.exit(run(args, print(FileDescriptor.out), print(FileDescriptor.err)));
    }

    private static PrintStream print(final FileDescriptor file) {
        return new PrintStream(new FileOutputStream(file), true, StandardCharsets.UTF_8);
    }

    private static int run(final String[] args, final PrintStream out, final PrintStream err) throws InterruptedException {
        final Optional<InstructionPoint> point =
            Stream.of(InstructionPoint.values()).filter(each -> args.length > 1 && each.label().equals(args[0])).findFirst();
        if (point.isEmpty()) {
            err.println("instructions: name one of " + labels() + ", and full or glance");
            return 2;
        }
        try {
            out.println(JsonText.of(document(point.get(), "glance".equals(args[1]))));
            return 0;
        } catch (final IOException | IllegalStateException e) {
            err.println("instructions: " + e.getMessage());
            return 1;
        }
    }

    private static ObjectNode document(final InstructionPoint point, final boolean glance)
        throws IOException, InterruptedException {
        Device.choose(DeviceKind.LOOPBACK);
        final InstructionCount ours = count(point, RingpollHandOff.NAME, glance);
        final InstructionCount theirs = count(point, point.baselineName(), glance);
        final ObjectNode root = JsonText.document(List.of(
            BenchResult.ofInstructions("instructions/" + point.label(), ours.all(), theirs.all(), point.baselineName())));
        final ArrayNode array = root.putArray("instructions");
        add(array, point, RingpollHandOff.NAME, ours);
        add(array, point, point.baselineName(), theirs);
        return root;
    }

    static InstructionCount count(final InstructionPoint point, final String contestant, final boolean glance)
        throws IOException, InterruptedException {
        final Stepper stepper = Stepper.find();
        final List<InstructionCount> counts = new ArrayList<>();
        for (int run = 0; run < (glance ? 1 : RUNS); run++) {
            try (Subject subject = point.start(contestant)) {
                counts.add(countSteady(point, contestant, subject, stepper, glance));
            }
        }
        counts.sort(Comparator.comparingDouble(InstructionCount::all));
        return counts.get(counts.size() / 2);
    }

    /**
     * Repeats warm-up and trace until the code is that of the steady state. On a loaded machine C2 takes longer; and a trace may
     * pass without work, in the JVM's own code or in a wait for a thread that does not run.
     */
    static InstructionCount countSteady(final InstructionPoint point, final String contestant, final Subject subject,
        final Stepper stepper, final boolean glance) throws IOException, InterruptedException {
        InstructionCount count = null;
        Steps idle = null;
        for (int i = 0; i < MOST_WARM_UPS && (count == null || count.steadyShare() < STEADY_SHARE); i++) {
            warmUp(subject, glance ? GLANCE_WARM_UP_MS : WARM_UP_MS);
            final Steps steps = subject.trace(stepper, glance ? GLANCE_STEPS : STEPS);
            if (steps.units() > 0) {
                count = InstructionCount.of(steps, CodeMap.ofThisProcess());
            } else {
                idle = steps;
            }
        }
        if (count == null) {
            throw new IOException(String.format(Locale.ROOT, "%s of %s: the thread did no work in %d instructions, the last of "
                + "%d traces", point.label(), contestant, idle.total(), MOST_WARM_UPS));
        }
        if (!glance && count.steadyShare() < STEADY_SHARE) {
            throw new IOException(String.format(Locale.ROOT, "%s of %s: after %d s, %.0f %% of the instructions are interpreted, "
                + "compiled by C1 only or the JVM's own; use the default compilers", point.label(), contestant,
                MOST_WARM_UPS * WARM_UP_MS / 1000, 100 * (1 - count.steadyShare())));
        }
        return count;
    }

    private static void warmUp(final Subject subject, final int milliseconds) throws IOException, InterruptedException {
        final long startNs = System.nanoTime();
        Timing.sleepUntil(startNs + TimeUnit.MILLISECONDS.toNanos(milliseconds));
        while (!subject.hasRepeated()) {
            if (System.nanoTime() - startNs > WORK_NS) {
                throw new IOException("the thread did not do enough work within " + WORK_NS / 1_000_000_000 + " s");
            }
            Thread.sleep(1);
        }
    }

    private static void add(
        final ArrayNode array, final InstructionPoint point, final String contestant, final InstructionCount count) {
        final ObjectNode node = array.addObject();
        node.put("name", point.label()).put("unit", point.unit()).put("contestant", contestant).put("all", count.all());
        for (final Place place : Place.values()) {
            node.put(place.label(), count.in(place));
        }
        final ObjectNode code = node.putObject("code");
        count.code().forEach(code::put);
    }
}
