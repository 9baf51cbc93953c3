package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.DoctorCase.argument;
import static io.ringpoll.internal.tuning.doctor.DoctorCase.flag;
import static io.ringpoll.internal.tuning.doctor.DoctorCase.ofJvm;
import static io.ringpoll.internal.tuning.doctor.DoctorCase.ofTree;
import static io.ringpoll.internal.tuning.doctor.DoctorCase.ofVerbs;
import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.completion.DeviceAttributes;
import io.ringpoll.tuning.RecordedTree;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** The expected findings of each check when one property of the tuned server is changed; the hot CPUs are 2 to 6. */
final class DoctorCases {
    private static final String CPU = "sys/devices/system/cpu/";
    private static final String EACH = CPU + "cpu#/";
    private static final String CGROUP = "sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope/";
    private static final String DEVICE = "sys/class/infiniband/mlx5_0/";
    private static final String DAEMON = "proc/812/comm";
    private static final String SETTINGS = "etc/default/irqbalance";
    private static final String STATUS = "proc/self/status";
    private static final String NO_LIMIT = "\\x00\\x94\\x35\\x77";
    private static final String NODES = "sys/devices/system/node/";

    private DoctorCases() {
    }

    static Stream<DoctorCase> all() {
        return Stream.concat(Stream.of(jvm(), places(), processor(), kernel(), interrupts(), memory(), libraries(), devices())
            .flatMap(List::stream), MoreDoctorCases.all());
    }

    private static List<DoctorCase> jvm() {
        return List.of(
            ofJvm("jdk-version", OK, "25.0.1+8-LTS", jvm -> jvm),
            ofJvm("jdk-version", BAD, "24.0.2 is older than 25",
                jvm -> new Jvm(24, "24.0.2", jvm.name(), true, List.of(), jvm.flags())),
            ofJvm("native-access", OK, "enabled", jvm -> jvm),
            ofJvm("native-access", WARNING, "not enabled",
                jvm -> new Jvm(25, jvm.version(), jvm.name(), false, List.of(), jvm.flags())),
            ofJvm("garbage-collector", OK, "ZGC", jvm -> jvm),
            ofJvm("garbage-collector", OK, "EpsilonGC", flag("UseZGC", "false").andThen(flag("UseEpsilonGC", "true"))::apply),
            ofJvm("garbage-collector", WARNING, "G1GC: stops", flag("UseZGC", "false").andThen(flag("UseG1GC", "true"))::apply),
            ofJvm("garbage-collector", WARNING, "SerialGC: stops",
                flag("UseZGC", "false").andThen(flag("UseSerialGC", "true"))::apply),
            ofJvm("garbage-collector", UNKNOWN, "does not report its collector",
                jvm -> new Jvm(25, jvm.version(), "another", true, List.of(), Map.of())),
            ofJvm("heap-pretouch", OK, "initial 1024 MiB, maximum 1024 MiB", jvm -> jvm),
            ofJvm("heap-pretouch", WARNING, "not touched at start", flag("AlwaysPreTouch", "false")),
            ofJvm("heap-pretouch", WARNING, "but it grows: initial 1024 MiB, maximum 4096 MiB", flag("MaxHeapSize",
                "4294967296")),
            ofJvm("heap-pretouch", WARNING, "initial 1024 MiB, maximum 6144 MiB", flag("MaxHeapSize", "6442450944"))
                .advising("-Xms6g -Xmx6g -XX:+AlwaysPreTouch\"   # or a smaller size"),
            ofJvm("heap-pretouch", WARNING, "initial 1024 MiB, maximum 6144 MiB",
                flag("MaxHeapSize", "6442450944").andThen(argument("-Xmx6g"))::apply).advising("-Xmx6g -XX:+AlwaysPreTouch\""),
            ofJvm("heap-pretouch", UNKNOWN, "does not show its heap flags",
                jvm -> new Jvm(25, jvm.version(), "another", true, List.of(), Map.of())),
            ofJvm("jvm-noise", OK, "none", jvm -> jvm),
            ofJvm("jvm-noise", WARNING, "hsperfdata", flag("PerfDisableSharedMem", "false")),
            ofJvm("jvm-noise", OK, "no statistics file",
                flag("PerfDisableSharedMem", "false").andThen(flag("UsePerfData", "false"))::apply),
            ofJvm("jvm-noise", BAD, "-Xint is given", argument("-Xint")),
            ofJvm("jvm-noise", BAD, "-agentlib:jdwp", argument("-agentlib:jdwp=transport=dt_socket")));
    }

    private static List<DoctorCase> places() {
        return List.of(
            ofTree("cpu-quota", OK, "none", tree -> tree),
            ofTree("cpu-quota", WARNING, "7.00 CPUs' time", tree -> tree.with(CGROUP + "cpu.max", "700000 100000")),
            ofTree("cpu-quota", BAD, "5.00 CPUs' time", tree -> tree.with(CGROUP + "cpu.max", "500000 100000")),
            ofTree("cpu-quota", BAD, "stopped in 3 periods", tree -> tree.with(CGROUP + "cpu.max", "800000 100000")
                .with(CGROUP + "cpu.stat", "nr_periods 9\\nnr_throttled 3")),
            ofTree("cpu-quota", UNKNOWN, "no control group", tree -> tree.without("proc/self/mountinfo")),
            ofTree("cpu-set", OK, "0-7 (8 of 8 online)", tree -> tree),
            ofTree("cpu-set", WARNING, "0-2 (3 of 8 online) for 5 hot threads",
                tree -> tree.with("sys/fs/cgroup/cpuset.cpus.effective", "0-2")),
            ofTree("cpu-set", BAD, "3 (1 of 8 online)", tree -> tree.with("sys/fs/cgroup/cpuset.cpus.effective", "3")),
            ofTree("device-node", OK, "one NUMA node", tree -> tree),
            ofTree("device-node", OK, "no RDMA adapter", tree -> tree.with(NODES + "node0/cpulist", "0-3")
                .with(NODES + "node1/cpulist", "4-7").without("sys/class/infiniband")),
            ofTree("device-node", OK, "mlx5_0 is on node 1 (CPUs 1-7)",
                tree -> tree.with(NODES + "node0/cpulist", "0").with(NODES + "node1/cpulist", "1-7").with(DEVICE
                    + "device/numa_node", "1")),
            ofTree("device-node", WARNING, "mlx5_0 is on node 1 (CPUs 5-7), hot CPUs 2-3 are not",
                tree -> tree.with(NODES + "node0/cpulist", "0-4").with(NODES + "node1/cpulist", "5-7")
                    .with(DEVICE + "device/numa_node", "1")),
            ofTree("device-node", BAD, "may use none of them",
                tree -> tree.with(NODES + "node0/cpulist", "0-5").with(NODES + "node1/cpulist", "6-7")
                    .with(DEVICE + "device/numa_node", "1").with("sys/fs/cgroup/cpuset.cpus.effective", "0-5")),
            ofTree("device-node", UNKNOWN, "does not report the node of mlx5_0",
                tree -> tree.with(NODES + "node0/cpulist", "0-3").with(NODES + "node1/cpulist", "4-7")
                    .with(DEVICE + "device/numa_node", "-1")));
    }

    private static List<DoctorCase> processor() {
        final String clock = "sys/devices/system/clocksource/clocksource0/";
        return List.of(
            ofTree("cpu-governor", OK, "performance on CPUs 2-6", tree -> tree),
            ofTree("cpu-governor", WARNING, "performance on CPUs 2-5, schedutil on CPU 6",
                tree -> tree.with(CPU + "cpu6/cpufreq/scaling_governor", "schedutil")),
            ofTree("cpu-governor", UNKNOWN, "no cpufreq driver", tree -> withoutEach(tree, "cpufreq")),
            ofTree("cpu-frequency", OK, "up to 4000 MHz", tree -> tree),
            ofTree("cpu-frequency", WARNING, "CPU 3 limited to 2000 MHz of 4000 MHz",
                tree -> tree.with(CPU + "cpu3/cpufreq/scaling_max_freq", "2000000")),
            ofTree("cpu-frequency", UNKNOWN, "no cpufreq driver", tree -> withoutEach(tree, "cpufreq")),
            ofTree("c-states", OK, "none that takes more than 10 us", tree -> tree),
            ofTree("c-states", OK, "none that takes more than 10 us",
                tree -> tree.with("dev/cpu_dma_latency", NO_LIMIT)),
            ofTree("c-states", OK, "none that takes more than 10 us", tree -> tree.denying("dev/cpu_dma_latency")),
            ofTree("c-states", OK, "C6 (170 us) on CPUs 2-6, kept out", DoctorCases::withC6),
            ofTree("c-states", OK, "kept out", tree -> withC6(tree).with("dev/cpu_dma_latency", NO_LIMIT)
                .withEach(2, 6, EACH + "power/pm_qos_resume_latency_us", "2")),
            ofTree("c-states", OK, "kept out", tree -> withC6(tree).without("dev/cpu_dma_latency")
                .withEach(2, 6, EACH + "power/pm_qos_resume_latency_us", "n/a")),
            ofTree("c-states", OK, "kept out", tree -> withC6(tree).with("dev/cpu_dma_latency", NO_LIMIT)
                .withEach(2, 6, EACH + "cpuidle/state2/disable", "1")),
            ofTree("c-states", WARNING, "C6 (170 us) on CPUs 2-6", tree -> withC6(tree).with("dev/cpu_dma_latency", NO_LIMIT)
                .withEach(2, 6, EACH + "power/pm_qos_resume_latency_us", "0")),
            ofTree("c-states", WARNING, "C6 (170 us) on CPUs 2-6",
                tree -> withC6(tree).with("dev/cpu_dma_latency", "\\xc8\\x00\\x00\\x00")),
            ofTree("c-states", UNKNOWN, "C6 (170 us) on CPUs 2-6, unless a process limits the latency: reading",
                tree -> withC6(tree).denying("dev/cpu_dma_latency")),
            ofTree("c-states", UNKNOWN, "no cpuidle driver", tree -> withoutEach(tree, "cpuidle")),
            ofTree("smt", OK, "no core has more than one CPU", tree -> tree),
            ofTree("smt", OK, "CPU 7, isolated", tree -> pair(pair(tree, 2, 7), 7, 2)),
            ofTree("smt", WARNING, "CPU 1 on cores of hot CPUs 2-6", tree -> pair(pair(tree, 1, 4), 4, 1))
                .advising("isolate-cpus --cpus 1-6 --apply"),
            ofTree("smt", WARNING, "share cores among themselves", tree -> pair(pair(pair(pair(tree, 2, 3), 3, 2), 4, 5), 5, 4)
                .with("sys/fs/cgroup/cpuset.cpus.effective", "2-5"))
                .advising("combine handlers (onAll), or give this process 4 cores: it may use 2"),
            ofTree("smt", UNKNOWN, "which CPUs share a core", tree -> withoutEach(tree, "topology")),
            ofTree("clocksource", OK, "tsc", tree -> tree),
            ofTree("clocksource", OK, "arch_sys_counter", tree -> tree.with(clock + "current_clocksource", "arch_sys_counter")),
            ofTree("clocksource", WARNING, "kvm-clock", tree -> tree.with(clock + "current_clocksource", "kvm-clock")),
            ofTree("clocksource", BAD, "hpet", tree -> tree.with(clock + "current_clocksource", "hpet"))
                .advising("echo tsc | sudo tee /sys"),
            ofTree("clocksource", BAD, "hpet", tree -> tree.with(clock + "current_clocksource", "hpet")
                .with(clock + "available_clocksource", "hpet acpi_pm")).advising("sudo dmesg | grep"),
            ofTree("clocksource", UNKNOWN, "does not exist", tree -> tree.without(clock + "current_clocksource")),
            ofTree("mitigations", OK, "2 active, none that costs much", tree -> tree),
            ofTree("mitigations", WARNING, "meltdown (PTI)", tree -> tree.with(CPU + "vulnerabilities/meltdown",
                "Mitigation: PTI")),
            ofTree("mitigations", UNKNOWN, "lists no vulnerabilities", tree -> tree.without(CPU + "vulnerabilities")));
    }

    private static List<DoctorCase> kernel() {
        return List.of(
            ofTree("isolation", OK, "CPUs 2-6 isolated", tree -> tree),
            ofTree("isolation", WARNING, "no CPU is isolated", tree -> tree.with(CPU + "isolated", "")),
            ofTree("isolation", WARNING, "(isolated: 2-3)", tree -> tree.with(CPU + "isolated", "2-3")),
            ofTree("isolation", BAD, "one CPU for everything", tree -> tree.with("sys/fs/cgroup/cpuset.cpus.effective", "3")),
            ofTree("isolation", UNKNOWN, "neither /sys/devices/system/cpu/isolated nor /proc/cmdline can be read",
                tree -> tree.without(CPU + "isolated").denying("proc/cmdline")),
            ofTree("timer-tick", OK, "stopped on hot CPUs 2-6", tree -> tree),
            ofTree("timer-tick", WARNING, "runs on hot CPUs 4-6", tree -> tree.with(CPU + "nohz_full", "2-3")),
            ofTree("timer-tick", WARNING, "runs on hot CPUs 2-6", tree -> tree.with(CPU + "nohz_full", "(null)")),
            ofTree("timer-tick", UNKNOWN, "without CONFIG_NO_HZ_FULL",
                tree -> tree.without(CPU + "nohz_full").with("proc/cmdline", "ro")),
            ofTree("rcu-callbacks", OK, "moved away", tree -> tree),
            ofTree("rcu-callbacks", WARNING, "may run on hot CPU 6",
                tree -> tree.with(CPU + "nohz_full", "").with("proc/cmdline", "ro rcu_nocbs=0-5")),
            ofTree("rcu-callbacks", UNKNOWN, "/proc/cmdline cannot be read",
                tree -> tree.with(CPU + "nohz_full", "").denying("proc/cmdline")),
            ofTree("watchdog", OK, "on CPUs 0-1 only", tree -> tree),
            ofTree("watchdog", OK, "off", tree -> tree.with("proc/sys/kernel/watchdog", "0")),
            ofTree("watchdog", OK, "on CPUs 0-1 only", tree -> tree.with("proc/sys/kernel/nmi_watchdog", "1")),
            ofTree("watchdog", OK, "on CPUs 0-1 only", tree -> tree.without("proc/sys/kernel/watchdog_cpumask")),
            ofTree("watchdog", WARNING, "the NMI watchdog is on for hot CPUs 2-6",
                tree -> tree.with("proc/sys/kernel/nmi_watchdog", "1").with("proc/sys/kernel/watchdog_cpumask", "0-7"))
                .advising("sudo sysctl kernel.watchdog_cpumask=0-1,7"),
            ofTree("watchdog", WARNING, "for hot CPUs 2-6", tree -> tree.with("proc/sys/kernel/watchdog_cpumask", "0-7")),
            ofTree("watchdog", UNKNOWN, "no watchdog setting",
                tree -> tree.without("proc/sys/kernel/watchdog").without("proc/sys/kernel/nmi_watchdog")),
            ofTree("numa-balancing", OK, "off", tree -> tree),
            ofTree("numa-balancing", OK, "without effect", tree -> tree.with("proc/sys/kernel/numa_balancing", "1")),
            ofTree("numa-balancing", OK, "one NUMA node", tree -> tree.without("proc/sys/kernel/numa_balancing")),
            ofTree("numa-balancing", WARNING, "on, with 2 nodes", tree -> tree.with("proc/sys/kernel/numa_balancing", "1")
                .with(NODES + "node0/cpulist", "0").with(NODES + "node1/cpulist", "1-7")),
            ofTree("numa-balancing", UNKNOWN, "does not show", tree -> tree.without("proc/sys/kernel/numa_balancing")
                .with(NODES + "node0/cpulist", "0").with(NODES + "node1/cpulist", "1-7")),
            ofTree("virtualisation", OK, "none seen (Server Vendor Inc.)", tree -> tree),
            ofTree("virtualisation", WARNING, "under a hypervisor (QEMU)", tree -> tree.with("sys/class/dmi/id/sys_vendor",
                "QEMU")),
            ofTree("virtualisation", WARNING, "under a hypervisor",
                tree -> tree.with("proc/cpuinfo", "processor\\t: 0\\nflags\\t\\t: fpu hypervisor tsc")),
            ofTree("virtualisation", UNKNOWN, "neither /proc/cpuinfo nor",
                tree -> tree.with("proc/cpuinfo", "processor\\t: 0\\nFeatures\\t: fp asimd").without("sys/class/dmi")),
            ofTree("steal-time", OK, "none since boot", tree -> tree),
            ofTree("steal-time", WARNING, "0.010 %", tree -> tree.with("proc/stat", "cpu  10 0 0 9989 0 0 0 1 0 0")),
            ofTree("steal-time", BAD, "20.000 %", tree -> tree.with("proc/stat", "cpu  10 0 0 70 0 0 0 20 0 0")),
            ofTree("steal-time", UNKNOWN, "no steal time", tree -> tree.with("proc/stat", "cpu  10 0 0 70")));
    }

    private static List<DoctorCase> interrupts() {
        return List.of(
            ofTree("interrupt-affinity", OK, "none of 3", tree -> tree),
            ofTree("interrupt-affinity", WARNING, "mlx5_comp0@pci:0000:81:00.0 (201, CPU 4)",
                tree -> tree.with("proc/irq/201/effective_affinity_list", "4")),
            ofTree("interrupt-affinity", WARNING, "nvme0q0 (120, CPU 2)",
                tree -> tree.without("proc/irq/120/effective_affinity_list").with("proc/irq/120/smp_affinity_list", "0-2")),
            ofTree("interrupt-affinity", WARNING, "mlx5_comp0@pci:0000:81:00.0 (201, CPU 7)",
                tree -> pair(pair(tree, 4, 7), 7, 4).with("proc/irq/201/effective_affinity_list", "7"))
                .advising("move-interrupts --away-from 2-7 --apply"),
            ofTree("interrupt-affinity", UNKNOWN, "/proc/irq shows no affinity", tree -> tree.without("proc/irq")),
            ofTree("interrupt-affinity", UNKNOWN, "/proc/interrupts needs root", tree -> tree.denying("proc/interrupts")),
            ofTree("irqbalance", OK, "not running", tree -> tree),
            ofTree("irqbalance", UNKNOWN, "the host's processes are not visible", tree -> tree.with(".dockerenv", "")),
            ofTree("irqbalance", OK, "excludes hot CPUs 2-6 by its default", tree -> tree.with(DAEMON, "irqbalance")),
            ofTree("irqbalance", OK, "IRQBALANCE_BANNED_CPULIST=1-7",
                tree -> unisolated(tree).with(SETTINGS, "IRQBALANCE_BANNED_CPULIST=\"1-7\"")),
            ofTree("irqbalance", OK, "IRQBALANCE_BANNED_CPUS=fe",
                tree -> unisolated(tree).with(SETTINGS, "IRQBALANCE_BANNED_CPUS=fe\\nIRQBALANCE_BANNED_CPULIST=")),
            ofTree("irqbalance", OK, "excludes hot CPUs 2-6 by its default",
                tree -> tree.with(DAEMON, "irqbalance").with(SETTINGS, "#IRQBALANCE_BANNED_CPULIST=3\\nIRQBALANCE_BANNED_CPUS=")),
            ofTree("irqbalance", OK, "IRQBALANCE_BANNED_CPULIST=2-7",
                tree -> tree.with(DAEMON, "irqbalance").with(SETTINGS, "IRQBALANCE_BANNED_CPULIST=0")
                    .with("proc/812/environ", "A=1\\x00IRQBALANCE_BANNED_CPULIST=2-7\\x00")),
            ofTree("irqbalance", WARNING, "free to use CPUs 2,4-6 by IRQBALANCE_BANNED_CPULIST=3",
                tree -> tree.with(DAEMON, "irqbalance").with(SETTINGS, "IRQBALANCE_BANNED_CPULIST=3"))
                .advising("move-interrupts --away-from 2-7 --apply"),
            ofTree("irqbalance", WARNING, "free to use CPUs 2-6 by IRQBALANCE_BANNED_CPULIST=",
                tree -> tree.with(DAEMON, "irqbalance").with("etc/sysconfig/irqbalance", "IRQBALANCE_BANNED_CPULIST=")),
            ofTree("irqbalance", WARNING, "free to use CPUs 2,4-6 by IRQBALANCE_BANNED_CPUS=8",
                tree -> tree.with(DAEMON, "irqbalance").with(SETTINGS, "IRQBALANCE_BANNED_CPUS=8"))
                .advising("remove IRQBALANCE_BANNED_CPUS, which takes precedence"),
            ofTree("irqbalance", WARNING, "free to use CPUs 2-6 by IRQBALANCE_BANNED_CPUS=zz",
                tree -> tree.with(DAEMON, "irqbalance").with(SETTINGS, "IRQBALANCE_BANNED_CPUS=zz")),
            ofTree("irqbalance", WARNING, "free to use CPUs 1-5 by its default",
                tree -> unisolated(tree).replacing(STATUS, "Cpus_allowed_list:\\t0-1", "Cpus_allowed_list:\\t0-7")));
    }

    private static RecordedTree unisolated(final RecordedTree tree) {
        return tree.with(DAEMON, "irqbalance").with(CPU + "isolated", "").with(CPU + "nohz_full", "");
    }

    private static List<DoctorCase> memory() {
        final String limits = "proc/self/limits";
        final String user = "CapEff:\\t0000000000000000";
        final String root = "CapEff:\\t000001ffffffffff";
        final UnaryOperator<String> limit = size -> "Limit  Soft Limit  Hard Limit  Units\\nMax locked memory         " + size
            + "  "
            + size + "  bytes";
        final String pages = "sys/kernel/mm/hugepages/hugepages-2048kB/";
        return List.of(
            ofTree("locked-memory", OK, "unlimited", tree -> tree),
            ofTree("locked-memory", OK, "CAP_IPC_LOCK", tree -> tree.with(limits, limit.apply("65536"))),
            ofTree("locked-memory", OK, "2048 MiB",
                tree -> tree.with(limits, limit.apply("2147483648")).replacing(STATUS, root, user)),
            ofTree("locked-memory", WARNING, "8 MiB", tree -> tree.with(limits, limit.apply("8388608")).replacing(STATUS, root,
                user)),
            ofTree("locked-memory", BAD, "64 KiB", tree -> tree.with(limits, limit.apply("65536")).replacing(STATUS, root, user)),
            ofTree("locked-memory", UNKNOWN, "does not exist", tree -> tree.without(limits)),
            ofTree("transparent-huge-pages", OK, "madvise", tree -> tree),
            ofTree("transparent-huge-pages", WARNING, "always",
                tree -> tree.with("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never")),
            ofTree("transparent-huge-pages", UNKNOWN, "no transparent huge pages",
                tree -> tree.without("sys/kernel/mm/transparent_hugepage")),
            ofTree("huge-pages", OK, "not needed", tree -> tree),
            ofTree("huge-pages", OK, "not needed", tree -> tree.with(pages + "nr_hugepages", "0")),
            ofJvm("huge-pages", OK, "not needed", flag("UseLargePages", "true").andThen(flag("UseTransparentHugePages",
                "true"))::apply),
            ofJvm("huge-pages", OK, "1024 MiB reserved for a heap of 1024 MiB", flag("UseLargePages", "true"))
                .on(tree -> tree.with(pages + "nr_hugepages", "512")),
            ofJvm("huge-pages", WARNING, "1024 MiB reserved for a heap of 6144 MiB",
                flag("UseLargePages", "true").andThen(flag("MaxHeapSize", "6442450944"))::apply)
                .on(tree -> tree.with(pages + "nr_hugepages", "512")).advising("huge-pages --pages 3072 --apply"),
            ofJvm("huge-pages", UNKNOWN, "shows no huge pages", flag("UseLargePages", "true"))
                .on(tree -> tree.without("sys/kernel/mm/hugepages")),
            ofTree("swap", OK, "none", tree -> tree),
            ofTree("swap", WARNING, "2.0 GiB, swappiness 60",
                tree -> tree.with("proc/swaps", "Filename Type Size Used Priority\\n/dev/sda2 partition 2097152 0 -2")),
            ofTree("swap", BAD, "12 KiB of this process",
                tree -> tree.replacing(STATUS, "VmSwap:\\t       0 kB", "VmSwap:\\t      12 kB")),
            ofTree("swap", UNKNOWN, "does not exist", tree -> tree.without("proc/swaps")));
    }

    private static List<DoctorCase> libraries() {
        final String lib = "usr/lib/x86_64-linux-gnu/";
        return List.of(
            ofTree("librpma", OK, "1.2.0, /usr/lib/x86_64-linux-gnu/librpma.so.0", tree -> tree),
            ofTree("librpma", OK, "version not shown", tree -> tree.without(lib + "pkgconfig/librpma.pc")),
            ofTree("librpma", WARNING, "0.14.0", tree -> tree.with(lib + "pkgconfig/librpma.pc", "Version: 0.14.0")),
            ofTree("librpma", BAD, "not found", tree -> tree.without(lib + "librpma.so.0")),
            ofTree("verbs-provider", OK, "libibverbs 1.14.44.0, 2 providers, among them mlx5", tree -> tree),
            ofTree("verbs-provider", BAD, "no provider 'mlx5' for mlx5_0", tree -> tree.without("etc/libibverbs.d/mlx5.driver")),
            ofTree("verbs-provider", BAD, "libibverbs.so.1 not found", tree -> tree.without(lib + "libibverbs.so.1")));
    }

    private static List<DoctorCase> devices() {
        final String port = DEVICE + "ports/1/";
        return List.of(
            ofTree("rdma-device", OK, "mlx5_0 (mlx5_core, firmware 22.35.1012)", tree -> tree),
            ofTree("rdma-device", WARNING, "none", tree -> tree.without("sys/class/infiniband")),
            ofTree("rdma-device", WARNING, "rxe0 (rdma_rxe): software only", tree -> tree.without("sys/class/infiniband")
                .with("sys/class/infiniband/rxe0/parent", "eth0").with("sys/class/infiniband/rxe0/ports/1/state", "4: ACTIVE")),
            ofTree("rdma-access", OK, "1 device and rdma_cm can be opened", tree -> tree),
            ofTree("rdma-access", BAD, "/dev/infiniband/uverbs* is missing", tree -> tree.without("dev/infiniband")),
            ofTree("rdma-access", BAD, "/dev/infiniband/rdma_cm is missing", tree -> tree.without("dev/infiniband/rdma_cm")),
            ofTree("rdma-access", BAD, "may not open /dev/infiniband/uverbs0", tree -> tree.denying("dev/infiniband/uverbs0")),
            ofTree("rdma-access", UNKNOWN, "no RDMA device", tree -> tree.without("sys/class/infiniband")),
            ofTree("port-state", OK, "mlx5_0/1 active, 100 Gb/sec (4X EDR), Ethernet", tree -> tree),
            ofTree("port-state", BAD, "mlx5_0/1 DOWN (Disabled), carried by ens1f0np0",
                tree -> tree.with(port + "state", "1: DOWN").with(port + "phys_state", "3: Disabled")),
            ofTree("port-state", WARNING, "mlx5_0/2 INIT",
                tree -> tree.with(DEVICE + "ports/2/state", "2: INIT").with(DEVICE + "ports/2/phys_state", "5: LinkUp")),
            ofTree("port-state", UNKNOWN, "no RDMA port", tree -> tree.without("sys/class/infiniband")),
            ofTree("mtu", OK, "mlx5_0/1 4096 bytes (ens1f0np0: 9000)", tree -> tree),
            ofVerbs("mtu", OK, "mlx5_0/1 (ens1f0np0: 9000)", null, tree -> tree),
            ofVerbs("mtu", WARNING, "mlx5_0/1 (ens1f0np0: 1500)", null, tree -> tree.with("sys/class/net/ens1f0np0/mtu", "1500")),
            ofVerbs("mtu", WARNING, "mlx5_0/1 1024 bytes",
                List.of(new DeviceAttributes("mlx5_0", 10, 10_000, 10, 10, List.of(1024))), tree -> tree),
            ofVerbs("mtu", UNKNOWN, "no port reports its MTU", null,
                tree -> tree.with("sys/class/net/ens1f0np0/mtu", "2044").with(port + "link_layer", "InfiniBand")),
            ofVerbs("mtu", WARNING, "mlx5_0/1 2048 bytes",
                List.of(new DeviceAttributes("mlx5_0", 10, 10_000, 10, 10, List.of(2048))),
                tree -> tree.with("sys/class/net/ens1f0np0/mtu", "2044").with(port + "link_layer", "InfiniBand"))
                .advising("subnet manager"),
            ofTree("mtu", UNKNOWN, "no RDMA device", tree -> tree.without("sys/class/infiniband")),
            ofTree("cq-limits", OK, "mlx5_0 16777216 queues of up to 4194303 entries", tree -> tree),
            ofVerbs("cq-limits", WARNING, "up to 255 entries",
                List.of(new DeviceAttributes("mlx5_0", 10, 255, 10, 10, List.of(1024))), tree -> tree),
            ofVerbs("cq-limits", UNKNOWN, "could not be asked", null, tree -> tree),
            ofTree("pcie-link", OK, "mlx5_0 16.0 GT/s PCIe x16", tree -> tree),
            ofTree("pcie-link", WARNING, "mlx5_0 16.0 GT/s PCIe x8 of 16.0 GT/s PCIe x16",
                tree -> tree.with(DEVICE + "device/current_link_width", "8")),
            ofTree("pcie-link", UNKNOWN, "no adapter", tree -> tree.without("sys/class/infiniband")));
    }

    private static RecordedTree withoutEach(final RecordedTree tree, final String folder) {
        for (int cpu = 0; cpu < 8; cpu++) {
            tree.without(CPU + "cpu" + cpu + "/" + folder);
        }
        return tree;
    }

    private static RecordedTree withC6(final RecordedTree tree) {
        return tree.withEach(0, 7, EACH + "cpuidle/state2/name", "C6").withEach(0, 7, EACH + "cpuidle/state2/latency", "170")
            .withEach(0, 7, EACH + "cpuidle/state2/disable", "0");
    }

    static RecordedTree pair(final RecordedTree tree, final int cpu, final int sibling) {
        return tree.with(CPU + "cpu" + cpu + "/topology/thread_siblings_list", Math.min(cpu, sibling) + "," + Math.max(cpu,
            sibling));
    }
}
