package io.ringpoll.bench.suite;

import io.ringpoll.bench.handoff.HandOffs;
import io.ringpoll.bench.latency.LatencyCommand;
import io.ringpoll.bench.throughput.ThroughputCommand;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A part of the whole run, which can be chosen by its name. */
enum Part {
    /** The call. */
    POLL,
    /** Reading a completion. */
    FLYWEIGHT,
    /** The hand-off in JVMs of its own, with what it allocates. */
    HAND_OFF,
    /** Posting through the binding. */
    POST,
    /** What idle strategies cost when something comes. */
    WAKE_UP,
    /** What the poller counts. */
    COUNTERS,
    /** Hand-offs in turns, saturated. */
    THROUGHPUT,
    /** Latency from due time, and half round trips. */
    LATENCY;

    /** Its name among the options. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** What JMH runs for it. */
    List<Comparison> comparisons(final Effort effort) {
        return switch (this) {
            case POLL -> Comparisons.poll(effort);
            case FLYWEIGHT -> Comparisons.flyweight(effort);
            case HAND_OFF -> Comparisons.handOff(effort);
            case POST -> Comparisons.post(effort);
            case WAKE_UP -> Comparisons.wakeUp(effort);
            case COUNTERS -> Comparisons.counters(effort);
            case THROUGHPUT, LATENCY -> List.of();
        };
    }

    /** Which tools run for it. */
    List<ToolRun> tools(final Effort effort, final Path folder) {
        return switch (this) {
            case THROUGHPUT -> throughput(effort);
            case LATENCY -> latency(effort, folder);
            default -> List.of();
        };
    }

    private static List<ToolRun> throughput(final Effort effort) {
        final boolean quick = effort != Effort.FULL;
        final List<ToolRun> tools = new ArrayList<>();
        for (final int handlers : quick ? new int[] {1, 3} : new int[] {1, 2, 3}) {
            tools.add(new ToolRun("throughput-" + handlers + "-handlers", ThroughputCommand.class,
                List.of("--handlers", Integer.toString(handlers), "--against", handlers == 1 ? "c,c-bare-loop" : "c",
                    "--warm-up", quick ? "2" : "3", "--rounds", quick ? "8" : "40", "--window", quick ? "200" : "500")));
        }
        tools.add(new ToolRun("throughput-1-handlers-in-batches", ThroughputCommand.class,
            List.of("--in-batches", "--against", "c", "--warm-up", quick ? "2" : "3", "--rounds", quick ? "4" : "40",
                "--window", quick ? "200" : "500")));
        tools.add(new ToolRun("throughput-copying", ThroughputCommand.class, List.of("--against", "copying", "--regime", "close",
            "--warm-up", quick ? "2" : "3", "--rounds", quick ? "4" : "20", "--window", quick ? "200" : "500")));
        return tools;
    }

    private static List<ToolRun> latency(final Effort effort, final Path folder) {
        final boolean quick = effort != Effort.FULL;
        return List.of(
            latency("latency-c", folder, "--duration", quick ? "8" : "40"),
            latency("latency-" + HandOffs.ARRAY_BLOCKING_QUEUE, folder, "--duration", quick ? "3" : "30", "--against",
                HandOffs.ARRAY_BLOCKING_QUEUE),
            latency("latency-loopback-ping-pong", folder, "--over", "loopback", "--duration", quick ? "3" : "30", "--against",
                "c,c-bare-loop"));
    }

    private static ToolRun latency(final String name, final Path folder, final String... arguments) {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--output", folder.resolve(name).toString()));
        return new ToolRun(name, LatencyCommand.class, all);
    }
}
