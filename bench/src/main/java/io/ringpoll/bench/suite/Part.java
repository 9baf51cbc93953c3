package io.ringpoll.bench.suite;

import io.ringpoll.bench.echo.EchoConfig;
import io.ringpoll.bench.echo.EchoTool;
import io.ringpoll.bench.growth.GrowthConfig;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HandOffs;
import io.ringpoll.bench.instructions.InstructionTool;
import io.ringpoll.bench.processes.ProcessesConfig;
import io.ringpoll.bench.processes.ProcessesTool;
import io.ringpoll.bench.verbs.VerbsTool;
import io.ringpoll.device.DeviceKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A part of the suite, selected by its name. */
public enum Part {
    /** The poll call. */
    POLL,
    /** Reading a completion. */
    FLYWEIGHT,
    /** The hand-off in separate JVMs, with its allocations. */
    HAND_OFF,
    /** Posting through the binding. */
    POST,
    /** Posts in lists and singly over verbs, and the poll of an extended queue. */
    VERBS,
    /** The wake-up latency of idle strategies. */
    WAKE_UP,
    /** The cost of the counters of the poller. */
    COUNTERS,
    /** Hand-offs in turns, saturated. */
    THROUGHPUT,
    /** Latency from due time, and half round trips. */
    LATENCY,
    /** An echo server and its clients, with the layer of connections and without it. */
    ECHO,
    /** Messages and writes between two processes, beside shared memory, Aeron IPC and TCP. */
    PROCESSES,
    /** The cost by the number of queues and pollers, and by the sizes of ring and batch. */
    GROWTH,
    /** The instructions of polls, posts, poller and handlers. */
    INSTRUCTIONS;

    private static final int WINDOW_MS = 200;
    private static final int LEAD_IN_MS = 100;
    private static final int WARM_UP_S = 3;
    private static final int SECOND_MS = 1000;
    /** The overhead of a turn: start and end of threads. */
    private static final int TURN_MS = 30;
    /** The overhead of a tool. */
    private static final int JVM_MS = 1500;

    /**
     * Its name among the options.
     *
     * @return one word
     */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * The parts of a run for which none is named.
     *
     * @param effort effort of the run
     * @return all but {@link #INSTRUCTIONS}, which not every system allows; without {@link #VERBS}, {@link #GROWTH} and
     *     {@link #PROCESSES} unless the effort is {@link Effort#FULL}
     */
    public static Set<Part> unnamed(final Effort effort) {
        return EnumSet.complementOf(
            effort == Effort.FULL ? EnumSet.of(INSTRUCTIONS) : EnumSet.of(VERBS, PROCESSES, GROWTH, INSTRUCTIONS));
    }

    /**
     * Whether a run is about the device of the machine.
     *
     * @param parts the measured parts
     * @return false if one of them is about the loopback device, as all but {@link #VERBS}
     */
    static boolean areOfTheMachinesDevice(final Set<Part> parts) {
        return parts.equals(EnumSet.of(VERBS));
    }

    /**
     * Its JMH comparisons in a run about a device: those of {@link #VERBS} are of the loopback device, and in an emulation their
     * JVMs would take most of the time.
     */
    List<Comparison> comparisons(final Effort effort, final DeviceKind device) {
        return this == VERBS && device != DeviceKind.LOOPBACK ? List.of() : comparisons(effort);
    }

    /** Its JMH comparisons. */
    List<Comparison> comparisons(final Effort effort) {
        return switch (this) {
            case POLL -> Comparisons.poll(effort);
            case FLYWEIGHT -> Comparisons.flyweight(effort);
            case HAND_OFF -> Comparisons.handOff(effort);
            case POST -> Comparisons.post(effort);
            case VERBS -> Comparisons.verbs();
            case WAKE_UP -> Comparisons.wakeUp(effort);
            case COUNTERS -> Comparisons.counters(effort);
            case THROUGHPUT, LATENCY, ECHO, PROCESSES, GROWTH, INSTRUCTIONS -> List.of();
        };
    }

    /** Its tools. */
    List<ToolRun> tools(final Effort effort, final Path folder) {
        return switch (this) {
            case THROUGHPUT -> throughput(effort);
            case LATENCY -> latency(effort, folder);
            case ECHO -> List.of(echo(effort, Set.of()));
            case PROCESSES -> List.of(processes(effort));
            case VERBS -> List.of(verbs(effort));
            case INSTRUCTIONS -> InstructionTool.labels().stream().map(label -> instructions(label, effort)).toList();
            default -> List.of();
        };
    }

    /** Its measurement in this process; empty for other parts than {@link #GROWTH}. */
    Optional<GrowthConfig> growth(final Effort effort) {
        return this != GROWTH ? Optional.empty() : Optional.of(switch (effort) {
            case GLANCE -> GrowthConfig.glance();
            case QUICK -> GrowthConfig.quick();
            case USUAL, FULL -> GrowthConfig.usual();
        });
    }

    private static List<ToolRun> throughput(final Effort effort) {
        final boolean quick = effort != Effort.FULL;
        final List<ToolRun> tools = new ArrayList<>();
        for (final int handlers : quick ? new int[] {1, 3} : new int[] {1, 2, 3}) {
            tools.add(throughput("throughput-" + handlers + "-handlers", quick, quick ? 8 : 30, handlers == 1 ? 6 : 4,
                "--handlers", Integer.toString(handlers), "--against", handlers == 1 ? "c,c-bare-loop" : "c"));
        }
        tools.add(throughput("throughput-1-handlers-in-batches", quick, quick ? 4 : 30, 4, "--in-batches", "--against", "c"));
        final List<HandOff> copying = quick ? HandOffs.copying() : HandOffs.allCopying();
        tools.add(throughput("throughput-copying", quick, quick ? 4 : 20, 1 + copying.size(),
            "--against", quick ? HandOffs.COPYING : HandOffs.ALL_COPYING, "--regime", "close"));
        return tools;
    }

    private static ToolRun throughput(
        final String name, final boolean quick, final int rounds, final int turnsOfARound, final String... arguments) {
        final int warmUps = quick ? 2 : 3;
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--warm-up", Integer.toString(warmUps), "--rounds", Integer.toString(rounds),
            "--window", Integer.toString(WINDOW_MS), "--lead-in", Integer.toString(LEAD_IN_MS)));
        return new ToolRun(name, "throughput", all, TimeUnit.MILLISECONDS.toNanos(
            JVM_MS + (long) (warmUps + rounds) * turnsOfARound * (WINDOW_MS + LEAD_IN_MS + TURN_MS)));
    }

    /** The settings of a tool with a class of its own. */
    private static String settings(final Effort effort) {
        return switch (effort) {
            case GLANCE -> "glance";
            case QUICK -> "quick";
            case USUAL -> "usual";
            case FULL -> "full";
        };
    }

    private static ToolRun processes(final Effort effort) {
        final String settings = settings(effort);
        return new ToolRun("processes", "processes", List.of(settings), ProcessesConfig.named(settings).expectedNs(),
            ProcessesTool.class);
    }

    private static ToolRun verbs(final Effort effort) {
        final String settings = settings(effort);
        return new ToolRun("verbs", "verbs", List.of(settings), VerbsTool.expectedNs(settings), VerbsTool.class);
    }

    /** The tool of {@link #ECHO} with some numbers of connections; with all if none is given. */
    static ToolRun echo(final Effort effort, final Set<Integer> connections) {
        final List<String> arguments = new ArrayList<>(List.of(settings(effort)));
        if (!connections.isEmpty()) {
            arguments.add(connections.stream().sorted().map(String::valueOf).collect(Collectors.joining(",")));
        }
        return new ToolRun("echo", "echo", arguments, EchoConfig.of(arguments).expectedNs(), EchoTool.class);
    }

    private static ToolRun instructions(final String label, final Effort effort) {
        final boolean glance = effort == Effort.GLANCE;
        return new ToolRun("instructions-" + label.replace('/', '-'), "instructions", List.of(label, glance ? "glance" : "full"),
            InstructionTool.expectedNs(glance), InstructionTool.class);
    }

    private static List<ToolRun> latency(final Effort effort, final Path folder) {
        final boolean quick = effort != Effort.FULL;
        return List.of(
            latency("latency-c", folder, quick ? 8 : 30, 2),
            latency("latency-" + HandOffs.ARRAY_BLOCKING_QUEUE, folder, quick ? 3 : 30, 2, "--against",
                HandOffs.ARRAY_BLOCKING_QUEUE),
            latency("latency-loopback-ping-pong", folder, quick ? 3 : 20, 3, "--over", "loopback", "--against", "c,c-bare-loop"));
    }

    private static ToolRun latency(
        final String name, final Path folder, final int seconds, final int contestants, final String... arguments) {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--warm-up", Integer.toString(WARM_UP_S), "--duration", Integer.toString(seconds),
            "--output", folder.resolve(name).toString()));
        return new ToolRun(name, "latency", all, TimeUnit.MILLISECONDS.toNanos(
            JVM_MS + (long) contestants * (WARM_UP_S + seconds) * (SECOND_MS + LEAD_IN_MS + TURN_MS)));
    }
}
