package io.ringpoll.internal.tuning.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.Topology;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.tuning.RecordedTree;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Invariants of every plan, on random parts of each machine and for random sets of threads. */
@Timeout(60)
class AffinityPlanPropertyTest {
    private static final int PLANS = 300;

    @TempDir
    private Path root;

    @ParameterizedTest
    @ValueSource(strings = {"two-socket-smt", "epyc-many-l3", "arm-server", "container-cgroup-v1", "container-cgroup-v2",
        "machine-at-hand", "tuned-server"})
    void shouldMaintainItsInvariantsOnAnyPartOfTheMachine(final String name) {
        final Topology machine = RecordedTree.named(name).topology(root);
        final Random random = new Random(name.hashCode());
        for (int i = 0; i < PLANS; i++) {
            final CpuSet cpus = part(machine.usable(), random);
            final List<ThreadRole> threads = threads(random);
            final PlanRequest request = new PlanRequest(threads, java.util.Optional.empty(), java.util.Optional.of(cpus));
            check(machine, cpus, AffinityPlan.plan(machine, request), name + " " + cpus + " " + threads);
        }
    }

    private static CpuSet part(final CpuSet usable, final Random random) {
        final List<Integer> all = new ArrayList<>(usable.stream().boxed().toList());
        Collections.shuffle(all, random);
        return CpuSet.of(all.subList(0, 1 + random.nextInt(Math.min(all.size(), 12))));
    }

    private static List<ThreadRole> threads(final Random random) {
        final List<ThreadRole> threads = new ArrayList<>(List.of(ThreadRole.poller("poller")));
        for (int i = random.nextInt(5); i > 0; i--) {
            threads.add(ThreadRole.handler("handler" + i));
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            threads.add(ThreadRole.application("application" + i));
        }
        return threads;
    }

    private static void check(final Topology machine, final CpuSet cpus, final AffinityPlan plan, final String what) {
        assertEquals(plan, AffinityPlan.plan(machine, new PlanRequest(plan.threads().stream().map(PlannedThread::role).toList(),
            plan.device(), java.util.Optional.of(cpus))), what);
        assertTrue(cpus.containsAll(plan.hotCpus()), what);
        assertTrue(cpus.containsAll(plan.auxiliary()), what);
        assertFalse(plan.auxiliary().isEmpty(), what);
        if (cpus.size() == 1) {
            assertTrue(plan.cpus().isEmpty(), what);
            return;
        }
        final int poller = plan.cpu("poller").orElseThrow();
        assertEquals(1, plan.cpus().values().stream().filter(cpu -> cpu == poller).count(), what);
        assertFalse(plan.auxiliary().contains(poller), what);
        for (final PlannedThread planned : plan.threads()) {
            final int cpu = planned.cpu().orElseThrow();
            if (planned.waitMode() == WaitMode.BUSY_SPIN) {
                assertEquals(1, plan.cpus().values().stream().filter(other -> other == cpu).count(), what);
                assertFalse(plan.auxiliary().contains(cpu), what);
            }
        }
        final CpuSet spare = cpus.minus(plan.hotCpus()).minus(plan.auxiliary());
        final boolean sharing = plan.cpus().values().stream().distinct().count() < plan.cpus().size()
            || plan.auxiliary().intersects(plan.hotCpus());
        assertTrue(spare.isEmpty() || !sharing, what + ": threads share a CPU while " + spare + " is free");
    }
}
