package io.ringpoll.internal.tuning.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.tuning.RecordedTree;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class TopologyTest {
    @TempDir
    private Path root;

    private Topology read(final String name) {
        return RecordedTree.named(name).topology(root);
    }

    @Test
    void shouldReadATwoSocketServerWithSmt() {
        final Topology machine = read("two-socket-smt");
        assertEquals("0-63", machine.online().toString());
        assertEquals(List.of("0-15,32-47", "16-31,48-63"), machine.nodes().stream().map(node -> node.cpus().toString()).toList());
        assertEquals(List.of(10, 21), machine.nodes().getFirst().distances());
        final Cpu cpu = machine.cpu(17);
        assertEquals(1, cpu.packageId());
        assertEquals(1, cpu.node());
        assertEquals("17,49", cpu.siblings().toString());
        assertEquals("16-31,48-63", cpu.cacheGroup().toString());
        assertEquals("L3 24 MiB", cpu.cacheName());
        assertTrue(machine.smt());
        assertEquals(32, machine.cores(machine.online()).size());
        assertEquals("48-49", machine.siblings(CpuSet.of(16, 17)).toString());
        assertTrue(machine.isolated().isEmpty());
        assertEquals(2, machine.controlGroup().version());
        assertEquals(OptionalDouble.empty(), machine.controlGroup().quotaCpus());
        assertTrue(machine.controlGroup().cpusetKnown());
    }

    @Test
    void shouldReadAnRdmaDeviceWithItsNodeInterruptsAndPorts() {
        final Topology machine = read("two-socket-smt");
        final RdmaDevice device = machine.rdmaDevice("mlx5_0").orElseThrow();
        assertEquals("mlx5_core", device.driver());
        assertEquals(Optional.of("0000:81:00.0"), device.pciAddress());
        assertEquals(OptionalInt.of(1), device.node());
        assertEquals(17, device.interrupts().size());
        assertFalse(device.software());
        final RdmaPort port = device.ports().getFirst();
        assertTrue(port.active());
        assertEquals("LinkUp", port.physicalState());
        assertEquals("Ethernet", port.linkLayer());
        assertEquals(Optional.of("ens1f0np0"), port.netDevice());
        assertEquals(OptionalInt.of(1500), port.netMtuBytes());
        assertTrue(machine.rdmaDevice("mlx5_9").isEmpty());
    }

    @Test
    void shouldReadInterruptsWithNamesCountsAndAffinity() {
        final Topology machine = read("two-socket-smt");
        final Interrupt comp = machine.interrupts().stream().filter(irq -> "203".equals(irq.id())).findFirst().orElseThrow();
        assertEquals("mlx5_comp2@pci:0000:81:00.0", comp.label());
        assertEquals(CpuSet.of(18), comp.effective());
        assertEquals(5002, comp.count(18));
        assertEquals(0, comp.count(17));
        assertTrue(comp.ofDevice());
        final Interrupt timer = machine.interrupts().stream().filter(irq -> "LOC".equals(irq.id())).findFirst().orElseThrow();
        assertEquals("Local timer interrupts", timer.label());
        assertEquals(901234 + 63, timer.count(63));
        assertFalse(timer.ofDevice());
    }

    @Test
    void shouldSeeEachL3OfAnEpycAndMoreThan64Cpus() {
        final Topology machine = read("epyc-many-l3");
        assertEquals(128, machine.cpus().size());
        assertEquals(16, machine.cacheGroups(machine.online()).size());
        assertEquals("60-63,124-127", machine.cpu(127).cacheGroup().toString());
        assertEquals("63,127", machine.cpu(127).siblings().toString());
    }

    @Test
    void shouldReadAnArmServerWithWideCacheLines() {
        final Topology machine = read("arm-server");
        assertEquals(4, machine.cpuNodes().size());
        assertFalse(machine.smt());
        assertEquals(128, machine.cpu(70).cacheLineBytes());
        assertEquals("64-95", machine.cpu(70).cacheGroup().toString());
        assertEquals(3180, machine.cpu(70).packageId());
        assertEquals(List.of(32, 25, 10, 16), machine.node(2).orElseThrow().distances());
        assertEquals("arch_timer", machine.interrupts().getFirst().label());
    }

    @Test
    void shouldReadAQuotaOfControlGroupVersion2() {
        final Topology machine = read("container-cgroup-v2");
        final ControlGroup group = machine.controlGroup();
        assertEquals(2, group.version());
        assertEquals(OptionalDouble.of(2.5), group.quotaCpus());
        assertEquals(OptionalLong.of(100_000), group.periodUs());
        assertEquals(OptionalLong.of(17), group.throttled());
        assertEquals("0-15", machine.usable().toString());
    }

    @Test
    void shouldReadAQuotaAndACpusetOfControlGroupVersion1FromInsideAContainer() {
        final Topology machine = read("container-cgroup-v1");
        final ControlGroup group = machine.controlGroup();
        assertEquals(1, group.version());
        assertEquals(OptionalDouble.of(6.0), group.quotaCpus());
        assertEquals(OptionalLong.of(0), group.throttled());
        assertEquals("4-7,12-15", group.cpuset().toString());
        assertEquals("4-7,12-15", machine.usable().toString());
    }

    @Test
    void shouldUseTheLowestQuotaOfAGroupAndItsParents() {
        final String group = "sys/fs/cgroup/user.slice";
        final Topology machine = RecordedTree.named("two-socket-smt").with(group + "/cpu.max", "300000 100000")
            .with(group + "/user-1000.slice/cpu.max", "350000 50000").topology(root);
        assertEquals(OptionalDouble.of(3.0), machine.controlGroup().quotaCpus());
        assertEquals(OptionalLong.of(100_000), machine.controlGroup().periodUs());
    }

    @Test
    void shouldReadThisMachineAsRecorded() {
        final Topology machine = read("machine-at-hand");
        assertEquals("0-1", machine.usable().toString());
        assertEquals(1, machine.controlGroup().version());
        assertEquals("L3 32 MiB", machine.cpu(1).cacheName());
        assertEquals("virtio3-rx", machine.interrupts().stream().filter(irq -> "41".equals(irq.id())).findFirst()
            .orElseThrow().label());
        assertTrue(machine.rdmaDevices().isEmpty());
    }

    @Test
    void shouldReadThisMachine() {
        final Topology machine = Topology.ofThisMachine();
        assertTrue(machine.online().containsAll(machine.usable()));
        assertTrue(machine.usable().size() >= 1);
        assertEquals(machine.online().size(), machine.cpus().size());
    }

    @Test
    void shouldCountIsolatedCpusAsUsableAlthoughTheDefaultMaskLeavesThemOut() {
        final Topology machine = read("tuned-server");
        assertEquals("0-1", machine.affinity().toString());
        assertEquals("2-7", machine.isolated().toString());
        assertEquals("2-7", machine.nohzFull().toString());
        assertEquals("2-7", machine.rcuNocbs().toString());
        assertEquals("0-7", machine.usable().toString());
    }

    @Test
    void shouldRespectAnExplicitMask() {
        final Topology machine = RecordedTree.named("two-socket-smt")
            .replacing("proc/self/status", "Cpus_allowed_list:\\t0-63", "Cpus_allowed_list:\\t4-7").topology(root);
        assertEquals("4-7", machine.usable().toString());
    }

    @Test
    void shouldOmitOfflineCpus() {
        final Topology machine = RecordedTree.named("two-socket-smt").with("sys/devices/system/cpu/online", "0-31")
            .topology(root);
        assertEquals("17", machine.cpu(17).siblings().toString());
        assertEquals("0-31", machine.usable().toString());
        assertThrows(IllegalArgumentException.class, () -> machine.cpu(40));
    }

    @Test
    void shouldReadIsolationFromTheCommandLineWithoutSysfs() {
        final Topology machine = RecordedTree.named("two-socket-smt").without("sys/devices/system/cpu/isolated")
            .without("sys/devices/system/cpu/nohz_full")
            .with("proc/cmdline", "ro isolcpus=nohz,domain,managed_irq,20-23,52-N rcu_nocbs=all isolcpus=domain,20-23")
            .topology(root);
        assertEquals("20-23", machine.isolated().toString());
        assertEquals("0-63", machine.rcuNocbs().toString());
        assertTrue(machine.nohzFull().isEmpty());
    }

    @Test
    void shouldReadIsolatedCpusetPartitions() {
        final Topology machine = RecordedTree.named("two-socket-smt").with("sys/fs/cgroup/cpuset.cpus.isolated", "8-11")
            .topology(root);
        assertEquals("8-11", machine.isolated().toString());
    }

    @Test
    void shouldGroupByNodeWithoutCacheInformation() {
        final Topology machine = RecordedTree.parse("""
            sys/devices/system/cpu/online\t0-3
            proc/self/status\tCpus_allowed_list:\\t0-3
            """).topology(root);
        assertEquals("0-3", machine.cpu(2).cacheGroup().toString());
        assertEquals("no shared cache shown", machine.cpu(2).cacheName());
        assertEquals(1, machine.cpuNodes().size());
    }

    @Test
    void shouldReportTheMissingFileWithoutCpus() {
        final RecordedTree empty = RecordedTree.empty();
        final String message = assertThrows(IllegalStateException.class, () -> empty.topology(root)).getMessage();
        assertTrue(message.contains("/sys/devices/system/cpu/online"), message);
    }

    @Test
    void shouldRecognizeASoftwareDeviceByItsParentInterface() {
        final String folder = "sys/class/infiniband/rxe0/";
        final Topology machine = RecordedTree.named("container-cgroup-v2").with(folder + "parent", "dummy0")
            .with(folder + "ports/1/state", "4: ACTIVE").with(folder + "ports/1/gid_attrs/ndevs/0", "dummy0")
            .with("sys/class/net/dummy0/mtu", "1500").topology(root);
        final RdmaDevice device = machine.rdmaDevice("rxe0").orElseThrow();
        assertTrue(device.software());
        assertEquals("rdma_rxe", device.driver());
        assertEquals(OptionalInt.of(1500), device.ports().getFirst().netMtuBytes());
    }
}
