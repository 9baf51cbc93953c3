package io.ringpoll.internal.tuning.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.Topology;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.tuning.RecordedTree;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The plan on each recorded machine, with the reasons in comments. */
@Timeout(60)
class AffinityPlanTest {
    private static final String STATUS = "proc/self/status";
    private static final String ISOLATED = "sys/devices/system/cpu/isolated";

    @TempDir
    private Path root;

    private AffinityPlan plan(final RecordedTree tree) {
        return AffinityPlan.plan(tree.topology(root), PlanRequest.ofPipeline());
    }

    private static void assertLost(final AffinityPlan plan, final String... parts) {
        assertEquals(parts.length, plan.givenUp().size(), () -> plan.givenUp().toString());
        for (int i = 0; i < parts.length; i++) {
            final String sentence = plan.givenUp().get(i);
            assertTrue(sentence.contains(parts[i]), sentence);
        }
    }

    private static Set<WaitMode> waits(final AffinityPlan plan) {
        return plan.threads().stream().map(PlannedThread::waitMode).collect(Collectors.toSet());
    }

    @Test
    void shouldStayOnTheNodeOfTheDeviceOnATwoSocketServer() {
        final AffinityPlan plan = plan(RecordedTree.named("two-socket-smt"));
        // The NIC is on node 1. Its first core (16, 48) is reserved for auxiliary threads; from there on one CPU a core. One L3
        // covers the node, so poller and handlers share it. The siblings 49-53 stay idle; the rest of the node is auxiliary,
        // so that the heap of the collector's threads is local.
        assertEquals("poller=17,send-write=18,receive=19,error=20,client=21", plan.pinOption());
        assertEquals("49-53", plan.idle().toString());
        assertEquals("16,22-31,48,54-63", plan.auxiliary().toString());
        assertEquals(1, plan.node());
        assertEquals(Optional.of("mlx5_0"), plan.device());
        assertEquals(Set.of(WaitMode.BUSY_SPIN), waits(plan));
        assertLost(plan, "CPUs 17-21 are not isolated");
    }

    @Test
    void shouldUseIsolatedCpusFirst() {
        final AffinityPlan plan = plan(RecordedTree.named("two-socket-smt").with(ISOLATED, "26-31,58-63")
            .replacing(STATUS, "Cpus_allowed_list:\\t0-63", "Cpus_allowed_list:\\t0-25,32-57"));
        // Six isolated cores on the device's node are enough for five threads; the isolated CPU left over (31) is not given to
        // auxiliary threads: the scheduler would not balance them there.
        assertEquals("poller=26,send-write=27,receive=28,error=29,client=30", plan.pinOption());
        assertEquals("58-62", plan.idle().toString());
        assertEquals("16-25,48-57", plan.auxiliary().toString());
        assertLost(plan);
    }

    @Test
    void shouldPreferTheDevicesNodeToIsolatedCpusElsewhere() {
        final AffinityPlan plan = plan(RecordedTree.named("two-socket-smt").with(ISOLATED, "8-15,40-47")
            .replacing(STATUS, "Cpus_allowed_list:\\t0-63", "Cpus_allowed_list:\\t0-7,16-39,48-63"));
        // Crossing the sockets costs every completion; being preempted costs some. The isolation is on the wrong node, and the
        // plan
        // reports that its CPUs are not isolated.
        assertEquals("poller=17,send-write=18,receive=19,error=20,client=21", plan.pinOption());
        assertLost(plan, "CPUs 17-21 are not isolated");
    }

    @Test
    void shouldFillUpWithWholeCoresBeforeIsolatedSiblings() {
        final AffinityPlan plan = plan(RecordedTree.named("two-socket-smt").with(ISOLATED, "30-31,62-63")
            .replacing(STATUS, "Cpus_allowed_list:\\t0-63", "Cpus_allowed_list:\\t0-29,32-61"));
        // Two isolated cores, four isolated CPUs: poller and first handler get them whole. The siblings 62 and 63 are isolated,
        // but using them would slow both threads of a core all the time.
        assertEquals("poller=30,send-write=31,receive=17,error=18,client=19", plan.pinOption());
        assertLost(plan, "CPUs 17-19 are not isolated");
    }

    @Test
    void shouldKeepPollerAndHandlersUnderOneOfManyL3s() {
        final AffinityPlan plan = plan(RecordedTree.named("epyc-many-l3"));
        // Four cores share an L3: just enough for the poller and three handlers. The group with CPU 0 would have three free cores
        // only, since one is auxiliary; the application takes the next group.
        assertEquals("poller=4,send-write=5,receive=6,error=7,client=8", plan.pinOption());
        assertEquals("68-72", plan.idle().toString());
        assertEquals("0-3,9-67,73-127", plan.auxiliary().toString());
        assertLost(plan, "CPUs 4-8 are not isolated");
    }

    @Test
    void shouldReportAnL3ThatIsTooSmall() {
        final PlanRequest request = PlanRequest.of(ThreadRole.poller("poller"), ThreadRole.handler("a"), ThreadRole.handler("b"),
            ThreadRole.handler("c"), ThreadRole.handler("d"), ThreadRole.handler("e"));
        final AffinityPlan plan = AffinityPlan.plan(RecordedTree.named("epyc-many-l3").topology(root), request);
        assertEquals("poller=4,a=5,b=6,c=7,d=8,e=9", plan.pinOption());
        assertLost(plan, "CPUs 4-9 are not isolated", "poller and handlers lie under 2 caches");
    }

    @Test
    void shouldPreferTheL3WithTheIsolatedCores() {
        final AffinityPlan plan = plan(RecordedTree.named("epyc-many-l3").with(ISOLATED, "18,44-47,108-111")
            .replacing(STATUS, "Cpus_allowed_list:\\t0-127", "Cpus_allowed_list:\\t0-17,19-43,48-107,112-127"));
        assertEquals("poller=44,send-write=45,receive=46,error=47,client=18", plan.pinOption());
        assertLost(plan);
    }

    @Test
    void shouldPlanAnArmServerWithoutSiblings() {
        final AffinityPlan plan = plan(RecordedTree.named("arm-server"));
        // No SMT: nothing to leave idle. CPUs above 64, on node 2 with the adapter, under that node's L3.
        assertEquals("poller=65,send-write=66,receive=67,error=68,client=69", plan.pinOption());
        assertTrue(plan.idle().isEmpty());
        assertEquals("64,70-95", plan.auxiliary().toString());
        assertLost(plan, "CPUs 65-69 are not isolated");
    }

    @Test
    void shouldUseTheNearestNodeWhenTheCpusetExcludesTheDevices() {
        final AffinityPlan plan = plan(RecordedTree.named("arm-server")
            .replacing(STATUS, "Cpus_allowed_list:\\t0-127", "Cpus_allowed_list:\\t0-63"));
        // Of the nodes left, 1 is at distance 25 from the device's, 0 at 32.
        assertEquals(1, plan.node());
        assertEquals("poller=33,send-write=34,receive=35,error=36,client=37", plan.pinOption());
        assertLost(plan, "no usable CPU is on node 2, where mlx5_0 is", "not isolated");
    }

    @Test
    void shouldLetOnlyThePollerSpinUnderASmallQuota() {
        final AffinityPlan plan = plan(RecordedTree.named("container-cgroup-v2"));
        // 2.5 CPUs of time: two spinning threads and the JVM's own would use it up, and then the kernel stops all of them for
        // tens of milliseconds. There are CPUs enough, so the threads still do not share.
        assertEquals("poller=1,send-write=2,receive=3,error=4,client=5", plan.pinOption());
        assertEquals(WaitMode.BUSY_SPIN, plan.waitMode("poller"));
        assertEquals(WaitMode.SLEEP, plan.waitMode(ThreadRole.Kind.HANDLER));
        assertEquals(WaitMode.SLEEP, plan.waitMode("client"));
        assertLost(plan, "CPUs 1-5 are not isolated", "the quota of 2.50 CPUs lets 1 of 5 threads spin");
    }

    @Test
    void shouldLetNothingSpinUnderAQuotaBelowTwoCpus() {
        final AffinityPlan plan = plan(RecordedTree.named("container-cgroup-v2").with("sys/fs/cgroup/cpu.max", "150000 100000"));
        assertEquals(Set.of(WaitMode.SLEEP), waits(plan));
    }

    @Test
    void shouldUseSiblingsOfOtherThreadsBeforeThePollersInASmallCpuset() {
        final AffinityPlan plan = plan(RecordedTree.named("container-cgroup-v1"));
        // Four whole cores (4-7 with 12-15) for five threads and the auxiliary ones: core 4 is auxiliary; poller and two handlers
        // get cores; the error handler gets the sibling of the auxiliary CPU, the application that of a handler, and the poller's
        // sibling 13 stays idle. The quota of 6 CPUs permits all five to spin.
        assertEquals("poller=5,send-write=6,receive=7,error=12,client=15", plan.pinOption());
        assertEquals("4", plan.auxiliary().toString());
        assertEquals("13-14", plan.idle().toString());
        assertEquals(Set.of(WaitMode.BUSY_SPIN), waits(plan));
        assertLost(plan, "error on CPU 12 shares its core with CPU 4", "client on CPU 15 shares its core with CPU 7",
            "not isolated");
    }

    @Test
    void shouldAssignThePollerItsOwnCpuOnThisMachine() {
        final AffinityPlan plan = plan(RecordedTree.named("machine-at-hand"));
        // Two CPUs, five threads: the poller spins alone; the rest, the JVM's own threads included, shares the boot CPU and
        // yields.
        assertEquals("poller=1,send-write=0,receive=0,error=0,client=0", plan.pinOption());
        assertEquals(WaitMode.BUSY_SPIN, plan.waitMode("poller"));
        assertEquals(WaitMode.YIELD, plan.waitMode(ThreadRole.Kind.HANDLER));
        assertEquals(WaitMode.YIELD, plan.waitMode(ThreadRole.Kind.APPLICATION));
        assertEquals("0", plan.auxiliary().toString());
        assertLost(plan, "5 threads and the JVM's own on 2 CPUs: none is left for send-write, receive, error, client",
            "CPU 1 is not isolated");
    }

    @Test
    void shouldLetHandlersShareACpuOnFourCpus() {
        final AffinityPlan plan = AffinityPlan.plan(RecordedTree.named("arm-server").topology(root),
            PlanRequest.ofPipeline().onCpus(CpuSet.parse("64-67")));
        // Auxiliary 64, poller 65, a CPU each for the first two handlers; the third shares with the second, and both yield.
        assertEquals("poller=65,send-write=66,receive=67,error=67,client=64", plan.pinOption());
        assertEquals(WaitMode.BUSY_SPIN, plan.waitMode("send-write"));
        assertEquals(WaitMode.YIELD, plan.waitMode("receive"));
        assertEquals(WaitMode.YIELD, plan.waitMode("error"));
        assertEquals(WaitMode.YIELD, plan.waitMode("client"));
        assertLost(plan, "5 threads and the JVM's own on 4 CPUs: none is left for error, client", "CPUs 65-67 are not isolated");
    }

    @Test
    void shouldNotPinOnOneCpu() {
        final AffinityPlan plan = AffinityPlan.plan(RecordedTree.named("machine-at-hand").topology(root),
            PlanRequest.ofPipeline().onCpus(CpuSet.of(1)));
        assertEquals("none", plan.pinOption());
        assertEquals(Set.of(WaitMode.SLEEP), waits(plan));
        assertEquals("1", plan.auxiliary().toString());
        assertLost(plan, "one CPU for 5 threads");
    }

    @Test
    void shouldPlaceTheApplicationOnAnotherNodeBeforeSlowingAHandler() {
        final AffinityPlan plan = plan(RecordedTree.named("two-socket-smt")
            .replacing(STATUS, "Cpus_allowed_list:\\t0-63", "Cpus_allowed_list:\\t0-3,16-19,48-51"));
        // Four whole cores on the device's node, and auxiliary threads find room on the other: poller and handlers take all four.
        assertEquals("poller=16,send-write=17,receive=18,error=19,client=1", plan.pinOption());
        assertEquals("0,2-3", plan.auxiliary().toString());
        assertLost(plan, "client is on node 0, away from node 1", "CPUs 1,16-19 are not isolated",
            "outside what this process");
    }

    @Test
    void shouldWarnOfASiblingUsedByOthers() {
        final AffinityPlan plan = AffinityPlan.plan(RecordedTree.named("two-socket-smt")
            .replacing(STATUS, "Cpus_allowed_list:\\t0-63", "Cpus_allowed_list:\\t16-21").topology(root),
                PlanRequest.ofPipeline());
        assertLost(plan, "not isolated", "CPUs 49-53, siblings of pinned threads' CPUs, are outside what this process may use");
    }

    @Test
    void shouldPlanTheTunedServerWithoutCompromise() {
        final AffinityPlan plan = plan(RecordedTree.named("tuned-server"));
        assertEquals("poller=2,send-write=3,receive=4,error=5,client=6", plan.pinOption());
        assertEquals("0-1", plan.auxiliary().toString());
        assertLost(plan);
    }

    @Test
    void shouldPlanNearTheRequestedDevice() {
        final RecordedTree tree = RecordedTree.named("two-socket-smt");
        final String other = "sys/class/infiniband/mlx5_1/";
        tree.with(other + "device/uevent", "PCI_SLOT_NAME=0000:18:00.0").with(other + "device/numa_node", "0")
            .with(other + "ports/1/state", "1: DOWN");
        final Topology machine = tree.topology(root);
        assertEquals(1, AffinityPlan.plan(machine, PlanRequest.ofPipeline()).node());
        assertEquals(0, AffinityPlan.plan(machine, PlanRequest.ofPipeline().nearDevice("mlx5_1")).node());
    }

    @Test
    void shouldReportAnUnknownNodeOfTheDevice() {
        final AffinityPlan plan = plan(RecordedTree.named("two-socket-smt")
            .with("sys/class/infiniband/mlx5_0/device/numa_node", "-1"));
        assertEquals(0, plan.node());
        assertLost(plan, "the firmware does not report the node of mlx5_0", "not isolated");
    }

    @Test
    void shouldRejectAnUnknownDeviceOrCpus() {
        final Topology machine = RecordedTree.named("tuned-server").topology(root);
        final PlanRequest request = PlanRequest.ofPipeline();
        assertEquals("no RDMA device 'mlx5_7' (there are: mlx5_0)", refusal(machine, request.nearDevice("mlx5_7")));
        assertEquals("CPUs 8-9 cannot be used: this process may use 0-7 (online: 0-7)",
            refusal(machine, request.onCpus(CpuSet.range(6, 9))));
        assertEquals("an empty list of CPUs", refusal(machine, request.onCpus(CpuSet.EMPTY)));
        assertThrows(IllegalArgumentException.class, () -> PlanRequest.of(ThreadRole.poller("a"), ThreadRole.handler("a")));
        assertThrows(IllegalArgumentException.class, () -> ThreadRole.poller("a b"));
    }

    @Test
    void shouldPlanSeveralPollers() {
        final AffinityPlan plan = AffinityPlan.plan(RecordedTree.named("machine-at-hand").topology(root),
            new PlanRequest(List.of(ThreadRole.poller("p1"), ThreadRole.poller("p2")), Optional.empty(), Optional.empty()));
        assertEquals("p1=1,p2=1", plan.pinOption());
        assertEquals(Set.of(WaitMode.YIELD), waits(plan));
    }

    private static String refusal(final Topology machine, final PlanRequest request) {
        return assertThrows(IllegalArgumentException.class, () -> AffinityPlan.plan(machine, request)).getMessage();
    }

    @Test
    void shouldIsolateThePlansCoresAndOneOtherCpuByAPartitionOfControlGroups() {
        final Topology topology = RecordedTree.named("two-socket-smt").topology(root);
        final AffinityPlan plan = AffinityPlan.plan(topology, PlanRequest.ofPipeline());
        final List<String> lines = new PlanSettings(topology, plan).partition();
        assertEquals("echo 16-21,49-53 | sudo tee /sys/fs/cgroup/ringpoll/cpuset.cpus", lines.get(2));
        assertEquals("echo isolated | sudo tee /sys/fs/cgroup/ringpoll/cpuset.cpus.partition", lines.get(3));
        assertTrue(lines.get(5).startsWith("taskset -c 16 ./ringpoll run --pin poller=17,"), lines.get(5));
    }

    @Test
    void shouldPrintNoPartitionWhereTheKernelHasNoneOrTheCpusAreIsolated() {
        for (final RecordedTree tree : List.of(RecordedTree.named("epyc-many-l3"), RecordedTree.named("tuned-server"),
            RecordedTree.named("two-socket-smt").with("sys/fs/cgroup/cgroup.type", "domain"),
            RecordedTree.named("two-socket-smt").with("sys/fs/cgroup/cgroup.controllers", "cpu memory"))) {
            final Topology topology = tree.topology(root.resolve(Integer.toString(System.identityHashCode(tree))));
            final AffinityPlan plan = AffinityPlan.plan(topology, PlanRequest.ofPipeline());
            assertEquals(List.of(), new PlanSettings(topology, plan).partition());
        }
    }
}
