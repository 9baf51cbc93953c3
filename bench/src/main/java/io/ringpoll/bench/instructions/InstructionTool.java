package io.ringpoll.bench.instructions;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.handoff.CHandOff;
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
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Counts the instructions of one kind of work by ringpoll and in C, in a JVM of its own, as the JIT compiler's code depends on
 * what ran before. JSON on standard output.
 */
public final class InstructionTool {
    /** Odd: the figure is the median by all instructions. */
    private static final int RUNS = 3;
    private static final int STEPS = 50_000;
    private static final int WARM_UP_MS = 2_000;

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
     * The time for one kind of work on a machine that is not busy.
     *
     * @param glance whether it is looked at for a moment only
     * @return nanoseconds
     */
    public static long expectedNs(final boolean glance) {
        return TimeUnit.MILLISECONDS.toNanos(glance ? 3_000 : 1_500 + 2 * RUNS * (WARM_UP_MS + 1_500));
    }

    /**
     * Counts.
     *
     * @param args one of {@link #labels()}, {@code full} or {@code glance}, and {@code --json}, which changes nothing
     * @throws IOException          if threads cannot be traced on this machine
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(final String... args) throws IOException, InterruptedException {
        final InstructionPoint point = Stream.of(InstructionPoint.values()).filter(each -> each.label().equals(args[0]))
            .findFirst().orElseThrow(() -> new IllegalArgumentException(args[0] + " is none of " + labels()));
        final boolean glance = "glance".equals(args[1]);
        Device.choose(DeviceKind.LOOPBACK);
        final InstructionCount ours = count(point, RingpollHandOff.NAME, glance);
        final InstructionCount theirs = count(point, CHandOff.NAME, glance);
        final ObjectNode root = JsonText.document(List.of(
            BenchResult.ofInstructions("instructions/" + point.label(), ours.all(), theirs.all(), CHandOff.NAME)));
        final ArrayNode array = root.putArray("instructions");
        add(array, point, RingpollHandOff.NAME, ours);
        add(array, point, CHandOff.NAME, theirs);
        new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8).println(JsonText.of(root));
        System.exit(0);
    }

    static InstructionCount count(final InstructionPoint point, final String contestant, final boolean glance)
        throws IOException, InterruptedException {
        final Stepper stepper = Stepper.find();
        final List<InstructionCount> counts = new ArrayList<>();
        for (int run = 0; run < (glance ? 1 : RUNS); run++) {
            try (Subject subject = point.start(contestant)) {
                Timing.sleepUntil(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(glance ? GLANCE_WARM_UP_MS : WARM_UP_MS));
                final Steps steps = stepper.trace(subject.thread(), glance ? GLANCE_STEPS : STEPS, subject::progress);
                counts.add(InstructionCount.of(steps, subject.units(steps), CodeMap.ofThisProcess()));
            }
        }
        counts.sort(Comparator.comparingDouble(InstructionCount::all));
        return counts.get(counts.size() / 2);
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
