package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Effect.LOW;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Checks of the processor: clock and mitigations. */
final class ProcessorChecks {
    private static final String CPU = "sys/devices/system/cpu/";
    private static final String CLOCK = "sys/devices/system/clocksource/clocksource0/";

    private ProcessorChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("clocksource", "clock source",
                "System.nanoTime reads it for each latency measurement and idle decision: 20 ns from the TSC, over 500 ns "
                    + "from the HPET.", HIGH, MACHINE, ProcessorChecks::clock, OK, WARNING, BAD, UNKNOWN),
            new Check("mitigations", "kernel mitigations",
                "They make every system call dearer: a busy poller makes none, an event-driven one several per wake-up.",
                LOW, MACHINE, ProcessorChecks::mitigations, OK, WARNING, UNKNOWN),
            new Check("split-locks", "detection of split locks",
                "An atomic access across two cache lines stops all cores: the kernel slows a process down that does it often.",
                LOW, MACHINE, ProcessorChecks::splitLocks, OK, WARNING, UNKNOWN));
    }

    private static Finding clock(final Examined machine) {
        final Reading reading = machine.files().read(CLOCK + "current_clocksource");
        if (reading.value().isEmpty()) {
            return Finding.unknown(reading.isPresent() ? "the kernel names no clock source" : reading.reason());
        }
        final String clock = reading.text();
        return switch (clock) {
            case "tsc", "arch_sys_counter" -> Finding.ok(clock);
            case "kvm-clock", "hyperv_clocksource_tsc_page", "xen" ->
                Finding.warning(clock + ": read without a system call, but slower than the TSC", tsc(machine));
            default -> Finding.bad(clock + ": each reading leaves the core", tsc(machine));
        };
    }

    /** The kernel lists the TSC only if it found it stable: forcing an unstable one lets the time jump. */
    private static String tsc(final Examined machine) {
        return machine.files().text(CLOCK + "available_clocksource").filter(all -> all.contains("tsc")).isPresent()
            ? "echo tsc | sudo tee /" + CLOCK + "current_clocksource"
            : "sudo dmesg | grep -i -e tsc -e clocksource   # the kernel's reason against the TSC; newer firmware or, in a "
                + "virtual machine, another CPU type of the guest can remove it";
    }

    private static Finding splitLocks(final Examined machine) {
        final Optional<String> flags = machine.files().text("proc/cpuinfo").stream().flatMap(String::lines)
            .filter(line -> line.startsWith("flags") || line.startsWith("Features")).findFirst();
        if (flags.isEmpty()) {
            return Finding.unknown("/proc/cpuinfo shows no flags");
        }
        if (machine.topology().bootOptions().value("split_lock_detect").filter("off"::equals).isPresent()) {
            return Finding.warning("switched off at boot", "remove split_lock_detect=off from the kernel's command line");
        }
        if (!flags.get().matches(".*\\b(split|bus)_lock_detect\\b.*")) {
            return Finding.ok("the processor detects none");
        }
        return machine.files().number("proc/sys/kernel/split_lock_mitigate").orElse(1) == 0
            ? Finding.warning("on, but processes are not slowed down", "sudo sysctl kernel.split_lock_mitigate=1")
            : Finding.ok("on");
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
