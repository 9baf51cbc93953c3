package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.DoctorCase.argument;
import static io.ringpoll.internal.tuning.doctor.DoctorCase.flag;
import static io.ringpoll.internal.tuning.doctor.DoctorCase.ofJvm;
import static io.ringpoll.internal.tuning.doctor.DoctorCase.ofTree;
import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.tuning.RecordedTree;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** The cases of the kernel's and the JVM's own work, of the way to memory, and of RDMA over Ethernet. */
final class MoreDoctorCases {
    private static final String CPU = "sys/devices/system/cpu/";
    private static final String EPP = CPU + "cpu#/cpufreq/energy_performance_preference";
    private static final String DEVICE = "sys/class/infiniband/mlx5_0/";
    private static final String VM = "proc/sys/vm/";
    private static final String KERNEL = "proc/sys/kernel/";
    private static final String HUGE = "sys/kernel/mm/transparent_hugepage/";
    private static final String RPS = "sys/class/net/ens1f0np0/queues/rx-1/rps_cpus";
    private static final String ECN = "sys/class/net/ens1f0np0/ecn/";
    private static final String RXE = "sys/class/infiniband/rxe0/";
    private static final UnaryOperator<RecordedTree> NO_DEVICE = tree -> tree.without("sys/class/infiniband");
    /** A network that is not RoCE. */
    private static final UnaryOperator<RecordedTree> INFINIBAND =
        tree -> tree.with(DEVICE + "ports/1/link_layer", "InfiniBand");
    private static final UnaryOperator<RecordedTree> SOFT_ROCE = tree -> tree.without("sys/class/infiniband")
        .with(RXE + "parent", "eth0").with(RXE + "ports/1/state", "4: ACTIVE").with(RXE + "ports/1/link_layer", "Ethernet");

    private MoreDoctorCases() {
    }

    static Stream<DoctorCase> all() {
        return Stream.of(jvm(), frequency(), timers(), kernel(), steering(), pages(), environment(), pcie(), ordering(), roce())
            .flatMap(List::stream);
    }

    private static List<DoctorCase> jvm() {
        return List.of(
            ofJvm("jvm-agents", OK, "none", jvm -> jvm),
            ofJvm("jvm-agents", WARNING, "-javaagent:apm.jar", argument("-javaagent:apm.jar")),
            ofJvm("jvm-agents", WARNING, "-XX:StartFlightRecording", argument("-XX:StartFlightRecording"))
                .advising("remove -XX:StartFlightRecording"),
            ofJvm("jvm-threads", OK, "ParallelGCThreads 2, ConcGCThreads 1, CICompilerCount 2 for auxiliary CPUs 0-1",
                jvm -> jvm),
            ofJvm("jvm-threads", WARNING, "ParallelGCThreads 8", flag("ParallelGCThreads", "8"))
                .advising("-XX:ActiveProcessorCount=2"),
            ofJvm("jvm-threads", WARNING, "CICompilerCount 3", flag("CICompilerCount", "3")),
            ofJvm("jvm-threads", UNKNOWN, "does not show their number",
                jvm -> new Jvm(25, jvm.version(), "another", true, List.of(), Map.of())),
            ofJvm("safepoint-log", OK, "written by a thread of its own", jvm -> jvm),
            ofJvm("safepoint-log", WARNING, "none",
                jvm -> new Jvm(25, jvm.version(), jvm.name(), true, List.of("-Xlog:async", "-Xlog:gc"), jvm.flags()))
                .advising("OPTS -Xlog:safepoint:file="),
            ofJvm("safepoint-log", WARNING, "written by the pausing thread",
                jvm -> new Jvm(25, jvm.version(), jvm.name(), true, List.of("-Xlog:gc*,safepoint:file=/tmp/x"), jvm.flags()))
                .advising("OPTS -Xlog:async\""));
    }

    private static List<DoctorCase> frequency() {
        return List.of(
            ofTree("energy-preference", OK, "performance on CPUs 2-6", tree -> tree),
            ofTree("energy-preference", OK, "driver has none", tree -> without(tree, EPP)),
            ofTree("energy-preference", OK, "0 on CPUs 2-6", tree -> tree.withEach(2, 6, EPP, "0")),
            ofTree("energy-preference", WARNING, "balance_performance on CPU 3, performance on CPUs 2,4-6",
                tree -> tree.withEach(3, 3, EPP, "balance_performance"))
                .advising("echo performance | sudo tee /sys/devices/system/cpu/cpu2/cpufreq/energy_performance_preference /sys"),
            ofTree("energy-preference", WARNING, "balance_power on CPUs 2-6",
                tree -> tree.withEach(2, 6, EPP, "balance_power").withEach(0, 7, CPU + "cpu#/cpufreq/scaling_governor",
                    "powersave")).advising("cpu-power --cpus 2-6 --governor performance"),
            ofTree("turbo", OK, "on", tree -> tree),
            ofTree("turbo", WARNING, "off", tree -> tree.with(CPU + "intel_pstate/no_turbo", "1"))
                .advising("echo 0 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"),
            ofTree("turbo", WARNING, "off", tree -> tree.without(CPU + "intel_pstate").with(CPU + "cpufreq/boost", "0"))
                .advising("echo 1 | sudo tee /sys/devices/system/cpu/cpufreq/boost"),
            ofTree("turbo", UNKNOWN, "no turbo setting", tree -> tree.without(CPU + "intel_pstate")));
    }

    private static List<DoctorCase> timers() {
        return List.of(
            ofTree("timer-migration", OK, "on, but not to hot CPUs 2-6", tree -> tree),
            ofTree("timer-migration", OK, "on, but not to hot", tree -> tree.with(CPU + "nohz_full", "")),
            ofTree("timer-migration", OK, "off",
                tree -> tree.with(CPU + "isolated", "").with(CPU + "nohz_full", "").with(KERNEL + "timer_migration", "0")),
            ofTree("timer-migration", WARNING, "also to hot CPU",
                tree -> tree.with(CPU + "isolated", "").with(CPU + "nohz_full", "")),
            ofTree("timer-migration", UNKNOWN, "no setting", tree -> tree.without(KERNEL + "timer_migration")),
            ofTree("vm-statistics", OK, "10 s", tree -> tree),
            ofTree("vm-statistics", WARNING, "1 s", tree -> tree.with(VM + "stat_interval", "1")),
            ofTree("vm-statistics", UNKNOWN, "no interval", tree -> tree.without(VM + "stat_interval")),
            ofTree("rt-throttling", OK, "no real-time priority", tree -> tree),
            ofTree("rt-throttling", OK, "off", tree -> realTime(tree).with(KERNEL + "sched_rt_runtime_us", "-1")),
            ofTree("rt-throttling", WARNING, "stopped for 50 ms of each 1000 ms", MoreDoctorCases::realTime),
            ofTree("rt-throttling", UNKNOWN, "no scheduling policy", tree -> tree.without("proc/self/stat")));
    }

    private static List<DoctorCase> kernel() {
        final String queues = "sys/devices/virtual/workqueue/";
        return List.of(
            ofTree("workqueues", OK, "away from hot CPUs 2-6", tree -> tree),
            ofTree("workqueues", WARNING, "may run on hot", tree -> tree.with(queues + "writeback/cpumask", "ff"))
                .advising("echo 83 | sudo tee /sys/devices/virtual/workqueue/writeback/cpumask"),
            ofTree("workqueues", UNKNOWN, "shows no mask", tree -> tree.without("sys/devices/virtual")),
            ofTree("kernel-threads", OK, "new ones on CPUs 0-1 only", tree -> tree),
            ofTree("kernel-threads", WARNING, "new ones also on hot CPUs 2-6",
                tree -> tree.with("proc/2/status", "Cpus_allowed_list:\\t0-7")).advising("taskset -pc 0-1,7"),
            ofTree("kernel-threads", UNKNOWN, "not visible", tree -> tree.with("proc/2/comm", "java")),
            ofTree("tuned", OK, "not running", tree -> tree.with("etc/tuned/active_profile", "balanced")),
            ofTree("tuned", OK, "network-latency",
                tree -> tree.with("proc/900/comm", "tuned").with("etc/tuned/active_profile", "network-latency")),
            ofTree("tuned", WARNING, "running, with the profile balanced",
                tree -> tree.with("proc/900/comm", "tuned").with("etc/tuned/active_profile", "balanced")),
            ofTree("tuned", UNKNOWN, "the host's processes are not visible", tree -> tree.with("run/.containerenv", "")),
            ofTree("tuned", UNKNOWN, "shows no profile", tree -> tree.with("proc/900/comm", "tuned")),
            ofTree("split-locks", OK, "the processor detects none", tree -> tree),
            ofTree("split-locks", OK, "on", tree -> tree.with("proc/cpuinfo", "flags\\t\\t: fpu split_lock_detect")),
            ofTree("split-locks", WARNING, "switched off at boot", tree -> tree.with("proc/cmdline", "split_lock_detect=off")),
            ofTree("split-locks", WARNING, "processes are not slowed down",
                tree -> tree.with("proc/cpuinfo", "flags\\t\\t: fpu bus_lock_detect").with(KERNEL + "split_lock_mitigate", "0")),
            ofTree("split-locks", UNKNOWN, "shows no flags", tree -> tree.without("proc/cpuinfo")));
    }

    private static List<DoctorCase> steering() {
        return List.of(
            ofTree("receive-steering", OK, "no interface steers", tree -> tree),
            ofTree("receive-steering", OK, "no interface steers", tree -> tree.with(RPS, "00000083")),
            ofTree("receive-steering", WARNING, "to hot CPUs 2-6: ens1f0np0", tree -> tree.with(RPS, "4"))
                .advising("echo 83 | sudo tee /sys/class/net/ens1f0np0/queues/rx-*/rps_cpus"),
            ofTree("receive-steering", UNKNOWN, "no interface shows", tree -> tree.without("sys/class/net")));
    }

    private static List<DoctorCase> pages() {
        return List.of(
            ofTree("huge-page-defrag", OK, "madvise", tree -> tree),
            ofTree("huge-page-defrag", WARNING, "always",
                tree -> tree.with(HUGE + "defrag", "[always] defer defer+madvise madvise never")),
            ofTree("huge-page-defrag", UNKNOWN, "does not exist", tree -> tree.without(HUGE + "defrag")),
            ofTree("compaction", OK, "only on demand", tree -> tree),
            ofTree("compaction", WARNING, "proactiveness 20, locked pages too",
                tree -> tree.with(VM + "compaction_proactiveness", "20").with(VM + "compact_unevictable_allowed", "1"))
                .advising("sysctl vm.compaction_proactiveness=0 vm.compact_unevictable_allowed=0"),
            ofTree("compaction", UNKNOWN, "no setting", tree -> tree.without(VM + "compaction_proactiveness")
                .without(VM + "compact_unevictable_allowed")),
            ofTree("page-merging", OK, "off", tree -> tree),
            ofTree("page-merging", WARNING, "on", tree -> tree.with("sys/kernel/mm/ksm/run", "1")),
            ofTree("page-merging", UNKNOWN, "does not exist", tree -> tree.without("sys/kernel/mm/ksm")));
    }

    private static List<DoctorCase> environment() {
        final String file = "proc/self/environ";
        return List.of(
            ofTree("verbs-environment", OK, "none", tree -> tree),
            ofTree("verbs-environment", OK, "none", tree -> tree.with(file, "MLX5_SINGLE_THREADED=0\\x00A=1\\x00")),
            ofTree("verbs-environment", WARNING, "MLX5_SHUT_UP_BF, RDMAV_FORK_SAFE",
                tree -> tree.with(file, "MLX5_SHUT_UP_BF=1\\x00RDMAV_FORK_SAFE=1\\x00")),
            ofTree("verbs-environment", BAD, "MLX5_SINGLE_THREADED", tree -> tree.with(file, "MLX5_SINGLE_THREADED=1\\x00"))
                .advising("unset MLX5_SINGLE_THREADED"),
            ofTree("verbs-environment", UNKNOWN, "shows nothing", tree -> tree.without(file)));
    }

    private static List<DoctorCase> pcie() {
        final String group = DEVICE + "device/iommu_group";
        final String link = DEVICE + "device/link";
        final String policy = "sys/module/pcie_aspm/parameters/policy";
        return List.of(
            ofTree("iommu", OK, "mlx5_0 identity", tree -> tree),
            ofTree("iommu", OK, "mlx5_0 behind no IOMMU",
                tree -> tree.without(group).with("sys/kernel/iommu_groups/0/type", "DMA")),
            ofTree("iommu", UNKNOWN, "does not show the mode", tree -> tree.without(group)),
            ofTree("iommu", WARNING, "mlx5_0 DMA-FQ", tree -> tree.with(group + "/type", "DMA-FQ")
                .with("usr/sbin/grubby", "")).advising("sudo grubby --update-kernel=ALL --args=iommu=pt"),
            ofTree("iommu", WARNING, "mlx5_0 DMA", tree -> tree.with(group + "/type", "DMA").with("proc/cpuinfo",
                "Features\\t: fp\\nCPU implementer\\t: 0x41")).advising("append iommu.passthrough=1 to"),
            ofTree("iommu", UNKNOWN, "does not show the mode", tree -> tree.without(group + "/type").with(group + "/name", "x")),
            ofTree("iommu", UNKNOWN, "no adapter", NO_DEVICE),
            ofTree("pcie-aspm", OK, "off", tree -> tree),
            ofTree("pcie-aspm", OK, "off by the policy", tree -> tree.without(link)
                .with(policy, "default [performance] powersave")),
            ofTree("pcie-aspm", WARNING, "mlx5_0 l1_aspm", tree -> tree.with(link + "/l1_aspm", "1"))
                .advising("echo 0 | sudo tee /sys/class/infiniband/mlx5_0/device/link/l1_aspm"),
            ofTree("pcie-aspm", UNKNOWN, "no setting of the link", tree -> tree.without(link)
                .with(policy, "[default] performance powersave")),
            ofTree("pcie-aspm", UNKNOWN, "no adapter", NO_DEVICE));
    }

    private static List<DoctorCase> ordering() {
        final String config = DEVICE + "device/config";
        return List.of(
            ofTree("pcie-read-request", OK, "mlx5_0 4096 bytes", tree -> tree),
            ofTree("pcie-read-request", WARNING, "mlx5_0 512 bytes", tree -> tree.with(config, configuration(0x10, 0x20)))
                .advising("sudo setpci -s 0000:81:00.0 CAP_EXP+8.w=5000:7000"),
            ofTree("pcie-read-request", UNKNOWN, "needs root",
                tree -> tree.with(config, "\\x00".repeat(6) + "\\x10" + "\\x00".repeat(56) + "\\xff")),
            ofTree("pcie-read-request", UNKNOWN, "no adapter", NO_DEVICE),
            ofTree("pcie-relaxed-ordering", OK, "mlx5_0 allowed", tree -> tree),
            ofTree("pcie-relaxed-ordering", WARNING, "mlx5_0 off", tree -> tree.with(config, configuration(0x00, 0x50))),
            ofTree("pcie-relaxed-ordering", UNKNOWN, "needs root", tree -> tree.denying(config)));
    }

    private static List<DoctorCase> roce() {
        final String counters = DEVICE + "ports/1/hw_counters";
        final String tos = "sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos";
        return List.of(
            ofTree("roce-loss", OK, "mlx5_0/1 2 for 5000000 received since boot", tree -> tree),
            ofTree("roce-loss", OK, "no port over Ethernet", INFINIBAND),
            ofTree("roce-loss", WARNING, "mlx5_0/1 6 for 5000000", tree -> tree.with(counters + "/packet_seq_err", "4"))
                .advising("sudo dcb pfc show dev ens1f0np0"),
            ofTree("roce-loss", UNKNOWN, "no port shows", tree -> tree.without(counters)),
            ofTree("roce-loss", UNKNOWN, "no RDMA device", NO_DEVICE),
            ofTree("roce-priority", OK, "mlx5_0/1 traffic class 106 (DSCP 26)", tree -> tree),
            ofTree("roce-priority", OK, "no port over Ethernet", INFINIBAND),
            ofTree("roce-priority", WARNING, "mlx5_0/1 traffic class 0", tree -> tree.with(tos, "0"))
                .advising("echo 106 | sudo tee /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos"),
            ofTree("roce-priority", UNKNOWN, "shows no default", tree -> tree.without(tos)),
            ofTree("roce-congestion", OK, "mlx5_0/1 priority 3: on", tree -> tree),
            ofTree("roce-congestion", OK, "no port over Ethernet", INFINIBAND),
            ofTree("roce-congestion", WARNING, "mlx5_0/1 priority 3: off for receiving and sending",
                tree -> tree.with(ECN + "roce_np/enable/3", "0").with(ECN + "roce_rp/enable/3", "0"))
                .advising("echo 1 | sudo tee /" + ECN + "roce_np/enable/3 /" + ECN + "roce_rp/enable/3"),
            ofTree("roce-congestion", WARNING, "priority 5: off for sending",
                tree -> tree.with(tos, "160").with(ECN + "roce_np/enable/5", "1").with(ECN + "roce_rp/enable/5", "0")),
            ofTree("roce-congestion", UNKNOWN, "no file of the driver shows it", tree -> tree.without(ECN + "roce_np")
                .without(ECN + "roce_rp")).advising("sudo dcb pfc show dev ens1f0np0"),
            ofTree("roce-congestion", UNKNOWN, "no file of the driver shows it", tree -> tree.without(ECN + "roce_np")),
            ofTree("roce-congestion", UNKNOWN, "no RDMA device", NO_DEVICE),
            ofTree("transmit-steering", OK, "does not apply to the queues of an adapter", tree -> tree),
            ofTree("transmit-steering", OK, "no masks", tree -> transmitting(tree, "0", "00000000")),
            ofTree("transmit-steering", OK, "hot CPUs 2-6 share no queue", tree -> transmitting(tree, "83", "7c")),
            ofTree("transmit-steering", WARNING, "hot CPUs 2-6 share tx-0, tx-1", tree -> transmitting(tree, "f", "f0"))
                .advising("echo 83 | sudo tee /sys/class/net/eth0/queues/tx-0/xps_cpus /sys/class/net/eth0/queues/tx-1/xps_cpus"
                    + "   # and the mask of the hot CPUs, 7c, to another queue"),
            ofTree("transmit-steering", UNKNOWN, "one transmit queue", SOFT_ROCE),
            ofTree("transmit-steering", UNKNOWN, "one transmit queue", tree -> transmitting(tree, "f", "no mask")),
            ofTree("transmit-steering", UNKNOWN, "no RDMA device", NO_DEVICE),
            ofTree("interrupt-moderation", OK, "does not apply", tree -> tree),
            ofTree("interrupt-moderation", WARNING, "eth0 defers interrupts by up to 400 us",
                tree -> SOFT_ROCE.apply(tree).with("sys/class/net/eth0/napi_defer_hard_irqs", "2")
                    .with("sys/class/net/eth0/gro_flush_timeout", "200000")),
            ofTree("interrupt-moderation", UNKNOWN, "only ethtool can read it", SOFT_ROCE),
            ofTree("interrupt-moderation", UNKNOWN, "no RDMA device", NO_DEVICE));
    }

    /** A configuration space with the PCI Express capability at 0x40 and these two bytes in Device Control. */
    private static String configuration(final int low, final int high) {
        final String zero = "\\x00";
        return zero.repeat(6) + "\\x10" + zero.repeat(0x34 - 7) + "\\x40" + zero.repeat(0x40 - 0x35) + "\\x10" + zero.repeat(7)
            + String.format("\\x%02x\\x%02x", low, high) + zero.repeat(8) + "\\xff";
    }

    /** Soft-RoCE over an interface with two transmit queues. */
    private static RecordedTree transmitting(final RecordedTree tree, final String first, final String second) {
        return SOFT_ROCE.apply(tree).with("sys/class/net/eth0/queues/tx-0/xps_cpus", first)
            .with("sys/class/net/eth0/queues/tx-1/xps_cpus", second);
    }

    private static RecordedTree realTime(final RecordedTree tree) {
        return tree.with("proc/self/stat", "1 (a (b) c) S" + " 0".repeat(37) + " 1 0 0");
    }

    private static RecordedTree without(final RecordedTree tree, final String path) {
        for (int cpu = 0; cpu < 8; cpu++) {
            tree.without(path.replace("#", Integer.toString(cpu)));
        }
        return tree;
    }
}
