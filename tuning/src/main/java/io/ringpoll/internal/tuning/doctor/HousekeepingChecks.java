package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.MEDIUM;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import java.util.List;
import java.util.OptionalLong;

/** Checks of the kernel's own work on hot CPUs. */
final class HousekeepingChecks {
    private HousekeepingChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("watchdog", "lock-up watchdogs",
                "They interrupt each CPU regularly to see whether it still schedules, which a spinning thread need not prove.",
                MEDIUM, MACHINE, HousekeepingChecks::watchdog, OK, WARNING, UNKNOWN));
    }

    /** The CPU mask applies to both watchdogs, the soft one and the one by non-maskable interrupts. */
    private static Finding watchdog(final Examined machine) {
        final MachineFiles files = machine.files();
        final OptionalLong nmi = files.number("proc/sys/kernel/nmi_watchdog");
        final OptionalLong any = files.number("proc/sys/kernel/watchdog");
        if (nmi.isEmpty() && any.isEmpty()) {
            return Finding.unknown("this kernel shows no watchdog setting");
        }
        if (nmi.orElse(0) == 0 && any.orElse(0) == 0) {
            return Finding.ok("off");
        }
        final CpuSet watched = files.cpuSet("proc/sys/kernel/watchdog_cpumask")
            .orElse(machine.topology().online().minus(machine.topology().nohzFull()));
        final CpuSet hot = watched.and(machine.hot());
        return hot.isEmpty() ? Finding.ok("on " + watched.and(machine.topology().online()).named() + " only")
            : Finding.warning((nmi.orElse(0) == 1 ? "the NMI watchdog is on" : "the soft watchdog is on") + " for hot "
                + hot.named(), "sudo sysctl " + (machine.others().isEmpty() ? "kernel.watchdog=0"
                : "kernel.watchdog_cpumask=" + machine.others()));
    }
}
