package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.MEDIUM;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.Reading;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Check of deep C-states on hot CPUs.
 *
 * <p>A state is kept out by any of three means: it is disabled on the CPU, the CPU's resume latency is limited, or a process
 * holds {@code /dev/cpu_dma_latency} open with a limit for all CPUs.
 */
final class IdleStateChecks {
    private static final String CPU = "sys/devices/system/cpu/cpu";
    private static final String GLOBAL = "dev/cpu_dma_latency";
    /** A C-state with a longer exit latency affects a median of microseconds. */
    private static final int MAX_EXIT_US = 10;

    private IdleStateChecks() {
    }

    static List<Check> all() {
        return List.of(new Check("c-states", "deep C-states",
            "A core that sleeps deeply takes up to hundreds of microseconds to wake for an event-driven poller or a parked "
                + "handler.", MEDIUM, MACHINE, IdleStateChecks::idleStates, OK, WARNING, UNKNOWN));
    }

    private static Finding idleStates(final Examined machine) {
        final MachineFiles files = machine.files();
        final TreeMap<String, CpuSet> deep = new TreeMap<>();
        final TreeMap<String, CpuSet> reachable = new TreeMap<>();
        final OptionalLong global = globalLimitUs(files);
        boolean known = false;
        for (final int cpu : machine.hot().stream().toArray()) {
            final long limit = Math.min(global.orElse(Long.MAX_VALUE), resumeLimitUs(files, cpu));
            final String folder = CPU + cpu + "/cpuidle/";
            for (final String state : files.names(folder)) {
                final OptionalLong exit = files.number(folder + state + "/latency");
                known |= exit.isPresent();
                if (exit.orElse(0) > MAX_EXIT_US) {
                    final String name = files.text(folder + state + "/name").orElse(state) + " (" + exit.getAsLong() + " us)";
                    deep.merge(name, CpuSet.of(cpu), CpuSet::or);
                    if (files.number(folder + state + "/disable").orElse(0) == 0 && exit.getAsLong() <= limit) {
                        reachable.merge(name, CpuSet.of(cpu), CpuSet::or);
                    }
                }
            }
        }
        if (!known) {
            return Finding.unknown("the kernel controls no C-states here (no cpuidle driver)");
        }
        if (reachable.isEmpty()) {
            return Finding.ok(deep.isEmpty() ? "none that takes more than " + MAX_EXIT_US + " us to leave"
                : Examined.described(deep) + ", kept out");
        }
        final Reading file = files.read(GLOBAL);
        return file.state() == Reading.State.DENIED || file.state() == Reading.State.FAILED
            ? Finding.unknown(Examined.described(reachable) + ", unless a process limits the latency: " + file.reason(),
                "sudo ./ringpoll doctor")
            : Finding.warning(Examined.described(reachable), Examined.script("cpu-power --cpus " + machine.hot()
                + " --max-exit-us " + MAX_EXIT_US));
    }

    /** The minimum over all holders of the device file: four bytes, native order. */
    private static OptionalLong globalLimitUs(final MachineFiles files) {
        final byte[] bytes = files.read(GLOBAL).text().getBytes(StandardCharsets.ISO_8859_1);
        return bytes.length == 4 ? OptionalLong.of((bytes[0] & 0xFF) | (bytes[1] & 0xFF) << 8 | (bytes[2] & 0xFF) << 16
            | (long) (bytes[3] & 0xFF) << 24) : OptionalLong.empty();
    }

    /** The limit of one CPU: {@code 0} is none, {@code n/a} is a latency of zero. */
    private static long resumeLimitUs(final MachineFiles files, final int cpu) {
        final String path = CPU + cpu + "/power/pm_qos_resume_latency_us";
        if (files.text(path).filter("n/a"::equals).isPresent()) {
            return 0;
        }
        final long limit = files.number(path).orElse(0);
        return limit == 0 ? Long.MAX_VALUE : limit;
    }
}
