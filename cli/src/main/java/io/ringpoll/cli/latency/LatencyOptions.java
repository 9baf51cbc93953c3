package io.ringpoll.cli.latency;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.latency.LatencyConfig;
import io.ringpoll.bench.latency.LatencyConfig.Mode;
import io.ringpoll.bench.latency.LatencyConfig.Over;
import io.ringpoll.bench.latency.Turn;
import io.ringpoll.cli.options.AddressOption;
import io.ringpoll.cli.options.RoleOption;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.Schedule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that select the measurement and its duration. */
final class LatencyOptions {
    private static final long DEFAULT_SYNTHETIC_RATE = 1_000_000;
    private static final long DEFAULT_DEVICE_RATE = 100_000;
    private static final double DEFAULT_SECONDS = 10;
    private static final int ROUNDS_BY_ITERATIONS = 10;
    private static final int DEFAULT_SIZE = 64;
    private static final int DEFAULT_PORT = 7491;
    private static final int SMALLEST_OF_ALL = 2;
    private static final long LONGEST_TURN_NS = TimeUnit.MINUTES.toNanos(10);

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(names = "--over", paramLabel = "WHAT",
        description = "Source of completions: synthetic, loopback or rdma (synthetic; with --role the device of this machine).")
    private String over;

    @Option(names = "--mode", paramLabel = "HOW",
        description = "rate: at fixed times, open loop; ping-pong: closed loop, half of each round trip "
            + "(rate over synthetic, else ping-pong).")
    private String mode;

    @Option(names = "--rate", paramLabel = "N",
        description = "Completions per second (1000000 over synthetic, else 100000).")
    private Long rate;

    @Option(names = "--burst", paramLabel = "N", description = "Completions per due time (1).")
    private Integer burst;

    @Option(names = "--random", description = "Random due times with that mean rate (a Poisson process).")
    private boolean random;

    @Option(names = "--operation", paramLabel = "OP",
        description = "Operation over a device: send, write or read (in ping-pong send, at a rate write). In ping-pong a "
            + "write has immediate data, and a read counts the whole round trip; at a rate a send ends with its receive.")
    private String operation;

    @Option(names = "--run-to-completion",
        description = "In ping-pong: each end polls and answers on one thread, as ib_send_lat does, without a hand-off.")
    private boolean runToCompletion;

    @Option(names = "--size", paramLabel = "BYTES",
        description = "Message length, or all: powers of two from 2 to 8388608 (64). Not over synthetic.")
    private String size;

    @Option(names = "--warm-up", paramLabel = "S", defaultValue = "3",
        description = "Seconds of each contestant before the measurement (${DEFAULT-VALUE}).")
    private double warmUpSeconds;

    @Option(names = "--duration", paramLabel = "S",
        description = "Measured seconds of each contestant, in turns of a second (10).")
    private Double durationSeconds;

    @Option(names = "--iterations", paramLabel = "N",
        description = "Number of recorded operations of each contestant, instead of a time.")
    private Long iterations;

    @Option(names = "--lead-in", paramLabel = "MS", defaultValue = "100",
        description = "Time to run in before each turn, not recorded (${DEFAULT-VALUE}).")
    private long leadInMs;

    @Mixin
    private AddressOption address = new AddressOption(DEFAULT_PORT);

    @Mixin
    private RoleOption role = new RoleOption();

    /** Created by picocli. */
    LatencyOptions() {
    }

    void check() {
        over();
        mode();
        schedule();
        sizes();
        operation();
        address.check();
        require(over() != Over.SYNTHETIC || !address.isGiven(), "the synthetic queue has no connection: no --address");
        require(role.isBoth() || over() != Over.SYNTHETIC, "--role needs a device: --over loopback or rdma");
        require(role.isBoth() || mode() == Mode.PING_PONG || operation() != Traffic.Operation.SEND,
            "a send at a rate ends at the server: with --role, --mode rate has --operation write or read");
        require(warmUpSeconds >= 0 && warmUpSeconds <= 3600, "--warm-up " + warmUpSeconds + " is not from 0 to 3600 seconds");
        require(durationSeconds == null || durationSeconds > 0 && durationSeconds <= TimeUnit.DAYS.toSeconds(7),
            "--duration " + durationSeconds + " is not a time above 0 and up to a week");
        require(iterations == null || iterations > 0, "--iterations " + iterations + " is not positive");
        require(durationSeconds == null || iterations == null, "--duration and --iterations exclude each other");
        require(leadInMs >= 0 && leadInMs <= 60_000, "--lead-in " + leadInMs + " is not from 0 to 60000 milliseconds");
        require(mode() == Mode.RATE || rate == null && burst == null && !random, "ping-pong has no --rate, --burst or --random");
        require(!random || burst == null, "--random and --burst exclude each other: each completion has a due time of its own");
        require(mode() == Mode.PING_PONG || !runToCompletion, "--run-to-completion is for ping-pong");
        require(over() != Over.SYNTHETIC || mode() == Mode.RATE, "there is no ping-pong over the synthetic queue");
        require(over() != Over.SYNTHETIC || operation == null, "nothing is posted over the synthetic queue: no --operation");
        require(over() != Over.SYNTHETIC || size == null, "there are no messages over the synthetic queue: no --size");
    }

    /** The source of completions; null for the device of this machine. */
    Over over() {
        return over != null ? choice("--over", over, Over.values()) : role.isBoth() ? Over.SYNTHETIC : null;
    }

    /** Chooses the device, and returns the source of completions. */
    Over choose() {
        final Over chosen = over();
        if (chosen != null) {
            Device.choose(chosen == Over.RDMA ? DeviceKind.RDMA : DeviceKind.LOOPBACK);
            return chosen;
        }
        return Device.current().kind() == DeviceKind.RDMA ? Over.RDMA : Over.LOOPBACK;
    }

    Mode mode() {
        return mode != null ? choice("--mode", mode, Mode.values()) : over() == Over.SYNTHETIC ? Mode.RATE : Mode.PING_PONG;
    }

    Traffic.Operation operation() {
        if (operation == null) {
            return mode() == Mode.PING_PONG ? Traffic.Operation.SEND : Traffic.Operation.WRITE;
        }
        return choice("--operation", operation, Traffic.Operation.values());
    }

    /** The number of hot threads in addition to the poller and the handlers: over a device one thread posts at the rate. */
    int posters() {
        return over() != Over.SYNTHETIC && mode() == Mode.RATE ? 1 : 0;
    }

    /** The due times of completions; saturation selects ping-pong. */
    Schedule schedule() {
        if (mode() == Mode.PING_PONG) {
            return Schedule.saturation();
        }
        try {
            return random ? Schedule.random(perSecond(), 1) : Schedule.bursts(perSecond(), burst == null ? 1 : burst);
        } catch (final IllegalArgumentException e) {
            throw refused("--rate, --burst: " + e.getMessage());
        }
    }

    private long perSecond() {
        return rate != null ? rate : over() == Over.SYNTHETIC ? DEFAULT_SYNTHETIC_RATE : DEFAULT_DEVICE_RATE;
    }

    /** The message sizes, in bytes. */
    List<Integer> sizes() {
        final List<Integer> sizes = new ArrayList<>();
        if ("all".equals(size)) {
            for (int bytes = SMALLEST_OF_ALL; bytes <= LatencyConfig.LONGEST_MESSAGE; bytes *= 2) {
                sizes.add(bytes);
            }
            return sizes;
        }
        try {
            sizes.add(size == null ? DEFAULT_SIZE : Integer.parseInt(size));
        } catch (final NumberFormatException notANumber) {
            throw refused("--size '" + size + "' is neither a number of bytes nor all");
        }
        require(sizes.getFirst() >= 1 && sizes.getFirst() <= LatencyConfig.LONGEST_MESSAGE,
            "--size " + size + " is not from 1 to " + LatencyConfig.LONGEST_MESSAGE + " bytes");
        return sizes;
    }

    /** All settings. */
    LatencyConfig config(final Over chosen, final List<String> against, final int handlers, final int ringSize, final int batch,
        final WaitMode waitStrategy, final HotCpus cpus, final long seed, final Path output) {
        return new LatencyConfig(chosen, mode(), schedule(), perSecond(), operation(), runToCompletion, sizes(), warmUpRounds(),
            rounds(), turn(), against, handlers, ringSize, batch, waitStrategy, cpus, seed, output);
    }

    /** The sides of the connection in this process. */
    RoleOption role() {
        return role;
    }

    /** Whether the server's poller answers. */
    boolean isRunToCompletion() {
        return runToCompletion;
    }

    /** The address of the server, over a device. */
    AddressOption address() {
        return address;
    }

    /** Number of warm-up turns. */
    private int warmUpRounds() {
        return (int) Math.ceil(warmUpSeconds);
    }

    /** Number of measured turns. */
    private int rounds() {
        if (iterations != null) {
            return mode() == Mode.PING_PONG ? (int) Math.min(ROUNDS_BY_ITERATIONS, iterations) :
                (int) Math.ceil(iterations / (double) perSecond());
        }
        return (int) Math.ceil(duration());
    }

    /** A measured turn. */
    private Turn turn() {
        final long leadInNs = TimeUnit.MILLISECONDS.toNanos(leadInMs);
        if (iterations == null) {
            return new Turn(0, leadInNs, (long) (duration() / rounds() * TimeUnit.SECONDS.toNanos(1)), 0);
        }
        if (mode() == Mode.PING_PONG) {
            return new Turn(0, leadInNs, LONGEST_TURN_NS, (iterations + rounds() - 1) / rounds());
        }
        return new Turn(0, leadInNs, (long) (iterations / (double) perSecond() / rounds() * TimeUnit.SECONDS.toNanos(1)), 0);
    }

    private double duration() {
        return durationSeconds == null ? DEFAULT_SECONDS : durationSeconds;
    }

    private <T extends Enum<T>> T choice(final String option, final String text, final T[] values) {
        final List<String> names = new ArrayList<>();
        for (final T value : values) {
            final String name = value.name().toLowerCase(Locale.ROOT).replace('_', '-');
            if (name.equals(text)) {
                return value;
            }
            names.add(name);
        }
        throw refused(option + " '" + text + "' is not " + String.join(" or ", names));
    }

    private void require(final boolean condition, final String otherwise) {
        if (!condition) {
            throw refused(otherwise);
        }
    }

    private ParameterException refused(final String message) {
        return new ParameterException(command.commandLine(), message);
    }
}
