package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Effect.LOW;
import static io.ringpoll.internal.tuning.doctor.Effect.MEDIUM;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.CpuSet;
import java.util.List;
import java.util.OptionalLong;

/** Checks of the isolation of hot CPUs: other threads, SMT siblings, ticks, callbacks. */
final class IsolationChecks {
    private static final String CPUS = "sys/devices/system/cpu/";

    private IsolationChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("isolation", "isolated CPUs",
                "The scheduler puts other threads on a CPU that is not isolated, and a preempted poller stops for "
                    + "milliseconds.", HIGH, MACHINE, IsolationChecks::isolation, OK, WARNING, BAD, UNKNOWN),
            new Check("smt", "SMT siblings of hot CPUs",
                "Two threads of one core share its execution units and first caches: a busy sibling slows the poller.",
                HIGH, MACHINE, IsolationChecks::smt, OK, WARNING, UNKNOWN),
            new Check("timer-tick", "timer tick (nohz_full)",
                "The tick interrupts a spinning thread 100 to 1000 times a second for microseconds each.",
                MEDIUM, MACHINE, IsolationChecks::tick, OK, WARNING, UNKNOWN),
            new Check("rcu-callbacks", "RCU callbacks (rcu_nocbs)",
                "The kernel frees memory in callbacks, in batches, on the CPU that asked for it, unless they are moved away.",
                MEDIUM, MACHINE, IsolationChecks::rcu, OK, WARNING, UNKNOWN),
            new Check("timer-migration", "migration of timers",
                "Idle CPUs hand their timers over to busy ones, and a spinning thread makes its CPU a busy one.",
                LOW, MACHINE, IsolationChecks::timers, OK, WARNING, UNKNOWN));
    }

    private static Finding isolation(final Examined machine) {
        final CpuSet usable = machine.topology().usable();
        if (usable.size() == 1) {
            return Finding.bad("one CPU for everything", "assign at least two CPUs to this process: "
                + (machine.topology().online().size() == 1 ? "the machine has one" : "./ringpoll tune plan"));
        }
        final CpuSet missing = machine.hot().minus(machine.topology().isolated());
        if (!missing.isEmpty() && !machine.files().exists(CPUS + "isolated") && unknownBootOptions(machine)) {
            return Finding.unknown("neither /" + CPUS + "isolated nor /proc/cmdline can be read");
        }
        return missing.isEmpty() ? Finding.ok(machine.hot().named() + " isolated")
            : Finding.warning("hot " + missing.named() + (machine.topology().isolated().isEmpty() ? ": no CPU is isolated"
                : " not isolated (isolated: " + machine.topology().isolated() + ")"), isolate(machine));
    }

    private static boolean unknownBootOptions(final Examined machine) {
        return machine.topology().bootOptions().options().isEmpty();
    }

    /** The hot CPUs with their siblings: all checks of this class name the same command. */
    private static String isolate(final Examined machine) {
        return machine.preparation().isolate().orElse("./ringpoll doctor --cpus LIST   # with hot CPUs other than CPU "
            + machine.topology().online().first().orElse(0) + ", the boot CPU, which keeps the time");
    }

    private static Finding smt(final Examined machine) {
        final CpuSet siblings = machine.topology().siblings(machine.hot());
        if (machine.topology().cores(machine.hot()).size() < machine.hot().size()) {
            return Finding.warning("hot " + machine.hot().named() + " share cores among themselves", separate(machine));
        }
        if (!siblings.isEmpty() && machine.topology().isolated().containsAll(siblings)) {
            return Finding.ok(siblings.named() + ", isolated: nothing runs there that was not put there");
        }
        if (!siblings.isEmpty()) {
            return Finding.warning(siblings.named() + " on cores of hot " + machine.hot().named(), isolate(machine));
        }
        if (machine.hot().stream().noneMatch(cpu -> machine.files().exists(CPUS + "cpu" + cpu + "/topology"))) {
            return Finding.unknown("the kernel does not show which CPUs share a core");
        }
        return Finding.ok(machine.topology().smt() ? "no sibling of a hot CPU is online" : "no core has more than one CPU");
    }

    /** A plan separates hot CPUs if there are cores for them and one for all other threads; it shares cores too if not. */
    private static String separate(final Examined machine) {
        final int cores = machine.topology().cores(machine.topology().usable()).size();
        final int needed = machine.hot().size() + 1;
        return cores >= needed ? "./ringpoll tune plan" : "combine handlers (onAll), or give this process " + needed
            + " cores: it may use " + cores;
    }

    private static Finding tick(final Examined machine) {
        if (!machine.files().exists(CPUS + "nohz_full") && !machine.topology().bootOptions().has("nohz_full")) {
            return Finding.unknown("this kernel was built without CONFIG_NO_HZ_FULL: the tick cannot be stopped",
                "use a kernel with CONFIG_NO_HZ_FULL (the distributions' server kernels have it)");
        }
        final CpuSet missing = machine.hot().minus(machine.topology().nohzFull());
        return missing.isEmpty() ? Finding.ok("stopped on hot " + machine.hot().named())
            : Finding.warning("runs on hot " + missing.named(), isolate(machine));
    }

    private static Finding rcu(final Examined machine) {
        final CpuSet missing = machine.hot().minus(machine.topology().rcuNocbs());
        if (!missing.isEmpty() && unknownBootOptions(machine)) {
            return Finding.unknown("/proc/cmdline cannot be read");
        }
        return missing.isEmpty() ? Finding.ok("moved away from hot " + machine.hot().named())
            : Finding.warning("may run on hot " + missing.named(), isolate(machine));
    }

    /** Isolated and nohz_full CPUs take no timers of others: there the setting has no effect. */
    private static Finding timers(final Examined machine) {
        final OptionalLong migration = machine.files().number("proc/sys/kernel/timer_migration");
        if (migration.isEmpty()) {
            return Finding.unknown("this kernel shows no setting");
        }
        final CpuSet open = machine.hot().minus(machine.topology().isolated()).minus(machine.topology().nohzFull());
        if (open.isEmpty() || migration.getAsLong() == 0) {
            return Finding.ok(migration.getAsLong() == 0 ? "off" : "on, but not to hot " + machine.hot().named());
        }
        return Finding.warning("on, also to hot " + open.named(), "sudo sysctl kernel.timer_migration=0");
    }
}
