package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Effect.LOW;
import static io.ringpoll.internal.tuning.doctor.Effect.MEDIUM;
import static io.ringpoll.internal.tuning.doctor.Scope.COMMAND;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** Checks of the kernel's own work on hot CPUs. */
final class HousekeepingChecks {
    private static final List<String> WORK_QUEUES = List.of("sys/devices/virtual/workqueue/cpumask",
        "sys/devices/virtual/workqueue/writeback/cpumask");
    private static final int KTHREADD = 2;
    /** The interval of tuned's profile network-latency. */
    private static final int CALM_INTERVAL_S = 10;
    /** The scheduling policy in /proc/PID/stat, counted from the state, and the values SCHED_FIFO and SCHED_RR. */
    private static final int POLICY = 38;
    private static final Set<String> REAL_TIME = Set.of("1", "2");

    private HousekeepingChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("watchdog", "lock-up watchdogs",
                "They interrupt each CPU regularly to see whether it still schedules, which a spinning thread need not prove.",
                MEDIUM, MACHINE, HousekeepingChecks::watchdog, OK, WARNING, UNKNOWN),
            new Check("workqueues", "work queues of the kernel",
                "Work that is bound to no CPU runs on any CPU of a mask, before the thread that spins there.",
                MEDIUM, MACHINE, HousekeepingChecks::workQueues, OK, WARNING, UNKNOWN),
            new Check("kernel-threads", "threads of the kernel",
                "A new kernel thread may run on the CPUs of its parent, kthreadd.",
                MEDIUM, MACHINE, HousekeepingChecks::kernelThreads, OK, WARNING, UNKNOWN),
            new Check("tuned", "tuned",
                "The daemon applies a profile at each start: governor, huge pages and sysctls change back to it.",
                MEDIUM, MACHINE, HousekeepingChecks::tuned, OK, WARNING, UNKNOWN),
            new Check("rt-throttling", "throttling of real-time threads",
                "The kernel stops real-time threads that spin for a part of each period, 50 ms of each second by default.",
                HIGH, COMMAND, HousekeepingChecks::throttling, OK, WARNING, UNKNOWN),
            new Check("vm-statistics", "interval of memory statistics",
                "A worker on each CPU folds counters into the total once in an interval, one second by default.",
                LOW, MACHINE, HousekeepingChecks::statistics, OK, WARNING, UNKNOWN));
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

    private static Finding workQueues(final Examined machine) {
        final MachineFiles files = machine.files();
        final List<String> shown = WORK_QUEUES.stream().filter(path -> files.cpuMask(path).isPresent()).toList();
        if (shown.isEmpty()) {
            return Finding.unknown("this kernel shows no mask");
        }
        final List<String> hot = shown.stream()
            .filter(path -> files.cpuMask(path).orElseThrow().intersects(machine.hotCores())).toList();
        if (hot.isEmpty()) {
            return Finding.ok("away from hot " + machine.hot().named());
        }
        return Finding.warning("may run on hot " + machine.hot().named(), machine.others().isEmpty() ? "./ringpoll tune plan"
            : Examined.write(machine.others().mask(), hot.toArray(new String[0])));
    }

    private static Finding kernelThreads(final Examined machine) {
        final MachineFiles files = machine.files();
        final String folder = "proc/" + KTHREADD + "/";
        final Optional<CpuSet> allowed = files.text(folder + "comm").filter("kthreadd"::equals).flatMap(name ->
            files.text(folder + "status")).stream().flatMap(String::lines).filter(line -> line.startsWith("Cpus_allowed_list:"))
            .map(line -> CpuSet.parse(line.substring(line.indexOf(':') + 1))).findFirst();
        if (allowed.isEmpty()) {
            return Finding.unknown("the kernel's threads are not visible here");
        }
        if (!allowed.get().intersects(machine.hotCores())) {
            return Finding.ok("new ones on " + allowed.get().and(machine.topology().online()).named() + " only");
        }
        return Finding.warning("new ones also on hot " + allowed.get().and(machine.hot()).named(), machine.others().isEmpty()
            ? "./ringpoll tune plan" : "for pid in 2 $(pgrep -P 2); do sudo taskset -pc " + machine.others()
            + " $pid; done   # those of one CPU refuse; nohz_full does it at boot");
    }

    private static Finding tuned(final Examined machine) {
        if (machine.files().process("tuned").isEmpty()) {
            return machine.surroundings().kind().isContainer() ? Finding.unknown("the host's processes are not visible")
                : Finding.ok("not running");
        }
        final Optional<String> profile = machine.files().text("etc/tuned/active_profile");
        if (profile.isEmpty()) {
            return Finding.unknown("running, but /etc/tuned/active_profile shows no profile", "tuned-adm active");
        }
        return profile.get().matches("(network-latency|latency-performance|cpu-partitioning|realtime).*")
            ? Finding.ok("running, with the profile " + profile.get())
            : Finding.warning("running, with the profile " + profile.get(),
                "sudo tuned-adm profile network-latency   # before other settings, or it reverts them");
    }

    private static Finding throttling(final Examined machine) {
        final MachineFiles files = machine.files();
        final String[] fields = files.text("proc/self/stat").map(line -> line.substring(line.lastIndexOf(')') + 1).strip()
            .split(" ")).orElse(new String[0]);
        if (fields.length <= POLICY) {
            return Finding.unknown("/proc/self/stat shows no scheduling policy");
        }
        if (!REAL_TIME.contains(fields[POLICY])) {
            return Finding.ok("does not apply: no real-time priority");
        }
        final long runtime = files.number("proc/sys/kernel/sched_rt_runtime_us").orElse(-1);
        final long period = files.number("proc/sys/kernel/sched_rt_period_us").orElse(1_000_000);
        return runtime < 0 || runtime >= period ? Finding.ok("off")
            : Finding.warning("real-time priority, stopped for " + (period - runtime) / 1000 + " ms of each "
                + period / 1000 + " ms", "start it without chrt: on isolated CPUs nothing competes, and a spinning real-time "
                + "thread starves the kernel's own threads");
    }

    private static Finding statistics(final Examined machine) {
        final OptionalLong interval = machine.files().number("proc/sys/vm/stat_interval");
        return interval.isEmpty() ? Finding.unknown("this kernel shows no interval")
            : interval.getAsLong() >= CALM_INTERVAL_S ? Finding.ok(interval.getAsLong() + " s")
            : Finding.warning(interval.getAsLong() + " s", "sudo sysctl vm.stat_interval=" + CALM_INTERVAL_S);
    }
}
