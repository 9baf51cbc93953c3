package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.Interrupt;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.Reading;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** Checks of the kernel's activities on hot CPUs: other threads, ticks, callbacks, interrupts. */
final class KernelChecks {
    private static final int SHOWN = 4;

    private KernelChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("isolation", "isolated CPUs",
                "The scheduler puts other threads on a CPU that is not isolated, and a preempted poller stops for "
                    + "milliseconds.", KernelChecks::isolation, OK, WARNING, BAD),
            new Check("timer-tick", "timer tick (nohz_full)",
                "The tick interrupts a spinning thread 100 to 1000 times a second for microseconds each.",
                KernelChecks::tick, OK, WARNING, UNKNOWN),
            new Check("rcu-callbacks", "RCU callbacks (rcu_nocbs)",
                "The kernel frees memory in callbacks, in batches, on the CPU that asked for it, unless they are moved away.",
                KernelChecks::rcu, OK, WARNING),
            new Check("interrupt-affinity", "interrupts on hot CPUs",
                "Each device interrupt takes the CPU from the poller for microseconds, and its soft interrupt for more.",
                KernelChecks::interrupts, OK, WARNING, UNKNOWN),
            new Check("irqbalance", "irqbalance",
                "The daemon moves interrupts between CPUs every ten seconds, also onto hot ones that it is not configured to "
                    + "exclude.",
                KernelChecks::balancer, OK, WARNING),
            new Check("watchdog", "lock-up watchdogs",
                "They interrupt each CPU regularly to see whether it still schedules, which a spinning thread need not prove.",
                KernelChecks::watchdog, OK, WARNING, UNKNOWN),
            new Check("numa-balancing", "automatic NUMA balancing",
                "It unmaps pages to detect their users: each such page costs the ring's threads a fault.",
                KernelChecks::numaBalancing, OK, WARNING, UNKNOWN),
            new Check("virtualisation", "virtual machine",
                "A hypervisor takes the CPU away without notice, and the guest's isolation does not hold it back.",
                KernelChecks::virtualisation, OK, WARNING, UNKNOWN),
            new Check("steal-time", "steal time",
                "Time that the hypervisor gave to other guests while this machine was runnable delays completions.",
                KernelChecks::steal, OK, WARNING, BAD, UNKNOWN));
    }

    private static Finding isolation(final Examined machine) {
        final CpuSet usable = machine.topology().usable();
        if (usable.size() == 1) {
            return Finding.bad("one CPU for everything", "assign at least two CPUs to this process: "
                + (machine.topology().online().size() == 1 ? "the machine has one" : "./ringpoll tune plan"));
        }
        final CpuSet missing = machine.hot().minus(machine.topology().isolated());
        return missing.isEmpty() ? Finding.ok(machine.hot().named() + " isolated")
            : Finding.warning("hot " + missing.named() + (machine.topology().isolated().isEmpty() ? ": no CPU is isolated"
                : " not isolated (isolated: " + machine.topology().isolated() + ")"), isolate(machine));
    }

    private static String isolate(final Examined machine) {
        return Examined.script("isolate-cpus --cpus " + machine.hot().or(machine.topology().siblings(machine.hot())))
            + "   # then reboot";
    }

    private static Finding tick(final Examined machine) {
        if (!machine.files().exists("sys/devices/system/cpu/nohz_full") && !machine.topology().bootOptions().has("nohz_full")) {
            return Finding.unknown("this kernel was built without CONFIG_NO_HZ_FULL: the tick cannot be stopped",
                "use a kernel with CONFIG_NO_HZ_FULL (the distributions' server kernels have it)");
        }
        final CpuSet missing = machine.hot().minus(machine.topology().nohzFull());
        return missing.isEmpty() ? Finding.ok("stopped on hot " + machine.hot().named())
            : Finding.warning("runs on hot " + missing.named(), isolate(machine));
    }

    private static Finding rcu(final Examined machine) {
        final CpuSet missing = machine.hot().minus(machine.topology().rcuNocbs());
        return missing.isEmpty() ? Finding.ok("moved away from hot " + machine.hot().named())
            : Finding.warning("may run on hot " + missing.named(), isolate(machine));
    }

    private static Finding interrupts(final Examined machine) {
        final List<Interrupt> all = machine.topology().interrupts().stream().filter(Interrupt::ofDevice).toList();
        if (all.stream().allMatch(interrupt -> interrupt.allowed().isEmpty())) {
            final Reading reading = machine.files().read("proc/interrupts");
            return Finding.unknown(reading.isPresent() ? "/proc/irq shows no affinity" : reading.reason());
        }
        final List<Interrupt> here = all.stream().filter(interrupt -> interrupt.effective().intersects(machine.hot())).toList();
        if (here.isEmpty()) {
            return Finding.ok("none of " + all.size() + " is sent to hot " + machine.hot().named());
        }
        final Stream<String> named = here.stream().limit(SHOWN).map(interrupt -> interrupt.label() + " (" + interrupt.id()
            + ", CPU " + interrupt.effective().and(machine.hot()) + ")");
        return Finding.warning(String.join(", ", named.toList()) + (here.size() > SHOWN ? " and " + (here.size() - SHOWN)
            + " more" : ""),
            Examined.script("move-interrupts --away-from " + machine.hot()));
    }

    private static Finding balancer(final Examined machine) {
        final MachineFiles files = machine.files();
        final boolean running = files.names("proc").stream().filter(name -> Character.isDigit(name.charAt(0)))
            .anyMatch(pid -> files.text("proc/" + pid + "/comm").filter("irqbalance"::equals).isPresent());
        if (!running) {
            return Finding.ok("not running");
        }
        final CpuSet banned = Stream.of("etc/default/irqbalance", "etc/sysconfig/irqbalance")
            .flatMap(path -> files.text(path).stream()).flatMap(String::lines)
            .filter(line -> line.startsWith("IRQBALANCE_BANNED_CPULIST="))
            .map(line -> list(line.substring(line.indexOf('=') + 1).replace("\"", ""))).reduce(CpuSet.EMPTY, CpuSet::or);
        // irqbalance excludes isolated and nohz_full CPUs by default.
        final CpuSet spared = banned.or(machine.topology().isolated()).or(machine.topology().nohzFull());
        final CpuSet open = machine.hot().minus(spared);
        return open.isEmpty() ? Finding.ok("running, and configured to exclude hot " + machine.hot().named())
            : Finding.warning("running, and free to use hot " + open.named(), Examined.script("move-interrupts --away-from "
                + machine.hot()));
    }

    private static CpuSet list(final String text) {
        try {
            return CpuSet.parse(text);
        } catch (final IllegalArgumentException e) {
            return CpuSet.EMPTY;
        }
    }

    private static Finding watchdog(final Examined machine) {
        final MachineFiles files = machine.files();
        final OptionalLong nmi = files.number("proc/sys/kernel/nmi_watchdog");
        final OptionalLong any = files.number("proc/sys/kernel/watchdog");
        if (nmi.isEmpty() && any.isEmpty()) {
            return Finding.unknown("this kernel shows no watchdog setting");
        }
        if (nmi.orElse(0) == 1) {
            return Finding.warning("the NMI watchdog is on", "sudo sysctl kernel.nmi_watchdog=0");
        }
        final CpuSet watched = files.cpuSet("proc/sys/kernel/watchdog_cpumask").orElse(machine.topology().online());
        final CpuSet hot = watched.and(machine.hot());
        return any.orElse(0) == 0 || hot.isEmpty() ? Finding.ok(any.orElse(0) == 0 ? "off" : "on " + watched.named() + " only")
            : Finding.warning("the soft watchdog is on for hot " + hot.named(), "sudo sysctl "
                + (machine.others().isEmpty() ? "kernel.watchdog=0" : "kernel.watchdog_cpumask=" + machine.others()));
    }

    private static Finding numaBalancing(final Examined machine) {
        final OptionalLong on = machine.files().number("proc/sys/kernel/numa_balancing");
        final int nodes = machine.topology().cpuNodes().size();
        if (on.isEmpty()) {
            return nodes == 1 ? Finding.ok("one NUMA node") : Finding.unknown("this kernel does not show whether it balances");
        }
        if (on.getAsLong() == 0) {
            return Finding.ok("off");
        }
        return nodes == 1 ? Finding.ok("on, and without effect: there is one NUMA node")
            : Finding.warning("on, with " + nodes + " nodes", "sudo sysctl kernel.numa_balancing=0");
    }

    private static Finding virtualisation(final Examined machine) {
        final MachineFiles files = machine.files();
        final Optional<String> cpuinfo = files.text("proc/cpuinfo");
        final String vendor = files.text("sys/class/dmi/id/sys_vendor").orElse("");
        final boolean known = vendor.matches("QEMU|Amazon EC2|Google|VMware, Inc\\.|Xen|innotek GmbH|OpenStack Foundation|KVM"
            + "|DigitalOcean|Hetzner|Alibaba Cloud");
        final boolean flagged = cpuinfo.stream().flatMap(String::lines)
            .anyMatch(line -> line.startsWith("flags") && line.matches(".*\\bhypervisor\\b.*"));
        if (flagged || known || files.exists("sys/hypervisor/type") || files.exists("proc/device-tree/hypervisor")) {
            return Finding.warning("under a hypervisor" + (vendor.isEmpty() ? "" : " (" + vendor + ")"),
                "measure it: ./ringpoll tune jitter --cpus " + machine.hot()
                    + " --seconds 30; for steady tails use bare metal or "
                    + "dedicated CPUs");
        }
        final boolean x86 = cpuinfo.filter(text -> text.contains("flags")).isPresent();
        return x86 || !vendor.isEmpty() ? Finding.ok("none seen" + (vendor.isEmpty() ? "" : " (" + vendor + ")"))
            : Finding.unknown("neither /proc/cpuinfo nor /sys/class/dmi reports a hypervisor");
    }

    private static Finding steal(final Examined machine) {
        final String[] fields = machine.files().text("proc/stat").stream().flatMap(String::lines)
            .filter(line -> line.startsWith("cpu ")).map(line -> line.substring(4).strip().split("\\s+")).findFirst()
            .orElse(new String[0]);
        // user nice system idle iowait irq softirq steal
        if (fields.length < 8 || !Stream.of(fields).allMatch(field -> field.matches("\\d{1,18}"))) {
            return Finding.unknown("/proc/stat shows no steal time");
        }
        long total = 0;
        for (int i = 0; i < 8; i++) {
            total += Long.parseLong(fields[i]);
        }
        final double percent = 100.0 * Long.parseLong(fields[7]) / Math.max(1, total);
        final String reading = String.format(java.util.Locale.ROOT, "%.3f %% of all CPU time since boot", percent);
        if (percent == 0) {
            return Finding.ok("none since boot");
        }
        final String command = "./ringpoll tune jitter --cpus " + machine.hot()
            + " --seconds 30   # shows it as it happens; ask the "
            + "provider for dedicated CPUs";
        return percent >= 1 ? Finding.bad(reading, command) : Finding.warning(reading, command);
    }
}
