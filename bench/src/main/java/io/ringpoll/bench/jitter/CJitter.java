package io.ringpoll.bench.jitter;

import io.ringpoll.bench.measure.BundledProgram;
import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** The loop in C: a process, {@code ringpoll-jitter}, with its output parsed. Used by one thread. */
final class CJitter {
    private static final String PROGRAM = "ringpoll-jitter";
    /** The process is killed if it exceeds the requested time by this. */
    private static final long GRACE_S = 30;

    private final Path program;
    private final CpuSet cpus;
    private final long floorNs;

    private CJitter(final Path program, final CpuSet cpus, final long floorNs) {
        this.program = program;
        this.cpus = cpus;
        this.floorNs = floorNs;
    }

    /** The path of the C program; empty if it was not built for this architecture. */
    static Optional<CJitter> find(final CpuSet cpus, final long floorNs) throws IOException {
        return BundledProgram.find(PROGRAM).map(program -> new CJitter(program, cpus, floorNs));
    }

    /**
     * Spins for a time.
     *
     * @throws IOException if the process cannot be started, fails, or does not end; the message has its output
     */
    List<CpuJitter> run(final long durationNs) throws IOException, InterruptedException {
        final String list = cpus.stream().mapToObj(Integer::toString).collect(Collectors.joining(","));
        final MachineFiles files = MachineFiles.ofThisMachine();
        final CpuCounters before = CpuCounters.read(files);
        final Process process = new ProcessBuilder(program.toString(), list, Long.toString(durationNs / 1_000_000),
            Long.toString(floorNs)).redirectErrorStream(true).start();
        try {
            process.getOutputStream().close();
            // It writes only after the measurement, possibly more than a pipe holds: so the output is read to its end.
            final Thread killer = Thread.ofVirtual().start(() -> endLate(process, durationNs));
            final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            final int exit = process.waitFor();
            killer.interrupt();
            if (exit != 0) {
                throw new IOException("the loop in C failed (exit code " + exit + "): " + output.strip());
            }
            return parse(output, before, CpuCounters.read(files));
        } finally {
            process.destroyForcibly();
        }
    }

    private static void endLate(final Process process, final long durationNs) {
        try {
            if (!process.waitFor(TimeUnit.NANOSECONDS.toSeconds(durationNs) + GRACE_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Parses the output of the program; the head comment of jitter.c has the format. */
    static List<CpuJitter> parse(final String output, final CpuCounters before, final CpuCounters after) throws IOException {
        final Map<Integer, Histogram> gaps = new HashMap<>();
        final List<String[]> cpus = new ArrayList<>();
        try {
            for (final String line : output.lines().toList()) {
                final String[] words = line.split(" ");
                if ("cpu".equals(words[0]) && words.length == 10) {
                    cpus.add(words);
                    gaps.put(Integer.parseInt(words[1]), SpinLoop.newHistogram());
                } else if ("gap".equals(words[0]) && words.length == 4) {
                    gaps.get(Integer.parseInt(words[1])).recordValueWithCount(
                        Math.min(Long.parseLong(words[2]), SpinLoop.MAX_GAP_NS), Long.parseLong(words[3]));
                } else {
                    throw new IOException("the loop in C printed '" + line + "', which is no line of its format");
                }
            }
            return cpus.stream().map(words -> {
                final int cpu = Integer.parseInt(words[1]);
                return new CpuJitter(cpu, gaps.get(cpu), Long.parseLong(words[3]), Long.parseLong(words[5]),
                    Long.parseLong(words[7]), Long.parseLong(words[9]), after.stolenSince(before, cpu),
                    after.interruptsSince(before, cpu));
            }).toList();
        } catch (final NumberFormatException | NullPointerException e) {
            throw new IOException("the loop in C printed something that is not its format: " + e.getMessage(), e);
        }
    }
}
