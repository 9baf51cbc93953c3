package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.Reading;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.TreeMap;

/** Checks of the processor: frequency, idle states, sharing of cores, clock, mitigations. */
final class ProcessorChecks {
    private static final String CPU = "sys/devices/system/cpu/";
    /** A C-state with a longer exit latency affects a median of microseconds. */
    private static final int MAX_EXIT_US = 10;

    private ProcessorChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("cpu-governor", "CPU frequency governor",
                "A governor that follows the load lets a core that waits for a completion run slowly when it arrives.",
                ProcessorChecks::governor, OK, WARNING, UNKNOWN),
            new Check("cpu-frequency", "CPU frequency limit",
                "A core that is held below its maximum takes longer for each completion.",
                ProcessorChecks::frequency, OK, WARNING, UNKNOWN),
            new Check("c-states", "deep C-states",
                "A core that sleeps deeply takes up to hundreds of microseconds to wake for an event-driven poller or a parked "
                    + "handler.", ProcessorChecks::idleStates, OK, WARNING, UNKNOWN),
            new Check("cpu-dma-latency", "wake-up latency limit (cpu_dma_latency)",
                "A process that holds /dev/cpu_dma_latency open at a low value keeps all cores out of deep C-states.",
                ProcessorChecks::dmaLatency, OK, WARNING, UNKNOWN),
            new Check("smt", "SMT siblings of hot CPUs",
                "Two threads of one core share its execution units and first caches: a busy sibling slows the poller.",
                ProcessorChecks::smt, OK, WARNING, UNKNOWN),
            new Check("clocksource", "clock source",
                "System.nanoTime reads it for each latency measurement and idle decision: 20 ns from the TSC, over 500 ns "
                    + "from the "
                    + "HPET.", ProcessorChecks::clock, OK, WARNING, BAD, UNKNOWN),
            new Check("mitigations", "kernel mitigations",
                "They make every system call dearer: a busy poller makes none, an event-driven one several per wake-up.",
                ProcessorChecks::mitigations, OK, WARNING, UNKNOWN));
    }

    /** The CPUs of a set by the value of a file of each CPU; CPUs without the file are omitted. */
    private static TreeMap<String, CpuSet> byValue(final Examined machine, final String file) {
        final TreeMap<String, CpuSet> values = new TreeMap<>();
        machine.hot().stream().forEach(cpu -> machine.files().text(CPU + "cpu" + cpu + "/" + file)
            .ifPresent(value -> values.merge(value, CpuSet.of(cpu), CpuSet::or)));
        return values;
    }

    private static String described(final TreeMap<String, CpuSet> values) {
        final List<String> parts = new ArrayList<>();
        values.forEach((value, cpus) -> parts.add(value + " on " + cpus.named()));
        return String.join(", ", parts);
    }

    private static Finding governor(final Examined machine) {
        final TreeMap<String, CpuSet> governors = byValue(machine, "cpufreq/scaling_governor");
        if (governors.isEmpty()) {
            return Finding.unknown("the kernel controls no frequency here (no cpufreq driver: usual in a virtual machine)");
        }
        final boolean fast = governors.keySet().stream().allMatch("performance"::equals);
        return fast ? Finding.ok(described(governors))
            : Finding.warning(described(governors), Examined.script("cpu-power --cpus " + machine.hot()
                + " --governor performance"));
    }

    private static Finding frequency(final Examined machine) {
        CpuSet held = CpuSet.EMPTY;
        long lowest = Long.MAX_VALUE;
        long highest = 0;
        for (final int cpu : machine.hot().stream().toArray()) {
            final String folder = CPU + "cpu" + cpu + "/cpufreq/";
            final OptionalLong limit = machine.files().number(folder + "scaling_max_freq");
            final OptionalLong max = machine.files().number(folder + "cpuinfo_max_freq");
            if (limit.isPresent() && max.isPresent()) {
                highest = Math.max(highest, max.getAsLong());
                lowest = Math.min(lowest, limit.getAsLong());
                held = limit.getAsLong() < max.getAsLong() ? held.or(CpuSet.of(cpu)) : held;
            }
        }
        if (highest == 0) {
            return Finding.unknown("the kernel shows no frequencies here (no cpufreq driver: usual in a virtual machine)");
        }
        return held.isEmpty() ? Finding.ok("up to " + megahertz(highest))
            : Finding.warning(held.named() + " limited to " + megahertz(lowest) + " of " + megahertz(highest),
                Examined.script("cpu-power --cpus " + held + " --max-frequency"));
    }

    private static String megahertz(final long kilohertz) {
        return kilohertz / 1000 + " MHz";
    }

    private static Finding idleStates(final Examined machine) {
        final MachineFiles files = machine.files();
        final TreeMap<String, CpuSet> deep = new TreeMap<>();
        boolean known = false;
        for (final int cpu : machine.hot().stream().toArray()) {
            final String folder = CPU + "cpu" + cpu + "/cpuidle/";
            for (final String state : files.names(folder)) {
                final OptionalLong exit = files.number(folder + state + "/latency");
                known |= exit.isPresent();
                if (exit.orElse(0) > MAX_EXIT_US && files.number(folder + state + "/disable").orElse(0) == 0) {
                    final String name = files.text(folder + state + "/name").orElse(state) + " (" + exit.getAsLong() + " us)";
                    deep.merge(name, CpuSet.of(cpu), CpuSet::or);
                }
            }
        }
        if (!known) {
            return Finding.unknown("the kernel controls no C-states here (no cpuidle driver)");
        }
        final OptionalLong limit = dmaLatencyUs(files);
        if (deep.isEmpty()) {
            return Finding.ok("none that takes more than " + MAX_EXIT_US + " us to leave");
        }
        return limit.isPresent() && limit.getAsLong() <= MAX_EXIT_US
            ? Finding.ok(described(deep) + ", kept out by a wake-up limit of " + limit.getAsLong() + " us")
            : Finding.warning(described(deep), Examined.script("cpu-power --cpus " + machine.hot() + " --max-exit-us "
                + MAX_EXIT_US));
    }

    /** The minimum over all holders of the device file: four bytes, native order. */
    private static OptionalLong dmaLatencyUs(final MachineFiles files) {
        final byte[] bytes = files.read("dev/cpu_dma_latency").text().getBytes(StandardCharsets.ISO_8859_1);
        return bytes.length == 4 ? OptionalLong.of((bytes[0] & 0xFF) | (bytes[1] & 0xFF) << 8 | (bytes[2] & 0xFF) << 16
            | (long) (bytes[3] & 0xFF) << 24) : OptionalLong.empty();
    }

    private static Finding dmaLatency(final Examined machine) {
        final Reading reading = machine.files().read("dev/cpu_dma_latency");
        final OptionalLong limit = dmaLatencyUs(machine.files());
        if (limit.isEmpty()) {
            return reading.state() == Reading.State.DENIED ? Finding.unknown(reading.reason(), "sudo ./ringpoll doctor")
                : Finding.unknown(reading.isPresent() ? "/dev/cpu_dma_latency contains no value" : reading.reason());
        }
        return limit.getAsLong() <= MAX_EXIT_US ? Finding.ok(limit.getAsLong() + " us")
            : Finding.warning(limit.getAsLong() == 2_000_000_000 ? "nobody limits it" : limit.getAsLong() + " us",
                Examined.script("run-pinned --latency-us 0") + " -- ./ringpoll run");
    }

    private static Finding smt(final Examined machine) {
        final CpuSet siblings = machine.topology().siblings(machine.hot());
        if (machine.topology().cores(machine.hot()).size() < machine.hot().size()) {
            return Finding.warning("hot " + machine.hot().named() + " share cores among themselves", "./ringpoll tune plan");
        }
        if (!siblings.isEmpty() && machine.topology().isolated().containsAll(siblings)) {
            return Finding.ok(siblings.named() + ", isolated: nothing runs there that was not put there");
        }
        if (!siblings.isEmpty()) {
            return Finding.warning(siblings.named() + " on cores of hot " + machine.hot().named(),
                Examined.script("isolate-cpus --cpus " + machine.hot().or(siblings)) + "   # and leave " + siblings + " idle");
        }
        if (machine.hot().stream().noneMatch(cpu -> machine.files().exists(CPU + "cpu" + cpu + "/topology"))) {
            return Finding.unknown("the kernel does not show which CPUs share a core");
        }
        return Finding.ok(machine.topology().smt() ? "no sibling of a hot CPU is online" : "no core has more than one CPU");
    }

    private static Finding clock(final Examined machine) {
        final String folder = "sys/devices/system/clocksource/clocksource0/";
        final Reading reading = machine.files().read(folder + "current_clocksource");
        if (reading.value().isEmpty()) {
            return Finding.unknown(reading.isPresent() ? "the kernel names no clock source" : reading.reason());
        }
        final String clock = reading.text();
        final boolean tsc = machine.files().text(folder + "available_clocksource").filter(all -> all.contains("tsc")).isPresent();
        final String command = tsc ? "echo tsc | sudo tee /" + folder + "current_clocksource"
            : "boot with tsc=reliable on the kernel's command line";
        return switch (clock) {
            case "tsc", "arch_sys_counter" -> Finding.ok(clock);
            case "kvm-clock", "hyperv_clocksource_tsc_page", "xen" ->
                Finding.warning(clock + ": read without a system call, but slower than the TSC", command);
            default -> Finding.bad(clock + ": each reading leaves the core", command);
        };
    }

    private static Finding mitigations(final Examined machine) {
        final List<String> names = machine.files().names(CPU + "vulnerabilities");
        if (names.isEmpty()) {
            return Finding.unknown("the kernel lists no vulnerabilities");
        }
        final List<String> dear = new ArrayList<>();
        int active = 0;
        for (final String name : names) {
            final String text = machine.files().text(CPU + "vulnerabilities/" + name).orElse("");
            active += text.startsWith("Mitigation") ? 1 : 0;
            // Page table isolation, IBRS and flushing of buffers cost hundreds of cycles at each entry; the rest is cheap.
            final String lower = text.toLowerCase(Locale.ROOT);
            if (lower.startsWith("mitigation: pti") || lower.startsWith("mitigation: ibrs")
                || lower.startsWith("mitigation: clear cpu buffers") || lower.startsWith("mitigation: untrained return thunk")) {
                dear.add(name + " (" + text.substring("Mitigation: ".length()) + ")");
            }
        }
        return dear.isEmpty() ? Finding.ok(active + " active, none that costs much at a system call")
            : Finding.warning(String.join(", ", dear), "./ringpoll run --wait busy-spin   # makes no system calls; "
                + "turning mitigations "
                + "off, mitigations=off on the kernel's command line, removes their protection");
    }
}
