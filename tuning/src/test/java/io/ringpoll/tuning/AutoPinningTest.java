package io.ringpoll.tuning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.tuning.topology.Topology;
import io.ringpoll.os.ThreadAffinity;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.pipeline.HandlerLifecycle;
import io.ringpoll.pipeline.Pinning;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.SlotControl;
import io.ringpoll.pipeline.WaitMode;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A pipeline pinned by plan. */
@Timeout(60)
class AutoPinningTest {
    private static final List<Pinning.Candidate> THREADS = List.of(
        new Pinning.Candidate("orders poller", true), new Pinning.Candidate("fills #1", false),
        new Pinning.Candidate("fills #2", false));

    @TempDir
    private Path root;

    @Test
    void shouldAssignTheCpuAndTheWaitOfThePlan() {
        final AutoPinning pinning = AutoPinning.of(RecordedTree.named("two-socket-smt").topology(root));
        // Node 1, the device's, from its second core on, for the reasons in AffinityPlanTest.
        assertEquals(
            Map.of("orders poller", new Pinning.Assignment(17, WaitMode.BUSY_SPIN),
                "fills #1", new Pinning.Assignment(18, WaitMode.BUSY_SPIN),
                "fills #2", new Pinning.Assignment(19, WaitMode.BUSY_SPIN)),
            pinning.assign(THREADS, Set.of()));
    }

    @Test
    void shouldNotUseCpusAssignedByTheUser() {
        final AutoPinning pinning = AutoPinning.of(RecordedTree.named("two-socket-smt").topology(root));
        final Map<String, Pinning.Assignment> assigned = pinning.assign(THREADS, Set.of(17, 19));
        assertTrue(assigned.values().stream().noneMatch(each -> each.cpu() == 17 || each.cpu() == 19),
            assigned::toString);
        assertEquals(3, assigned.values().stream().map(Pinning.Assignment::cpu).distinct().count(), assigned::toString);
    }

    @Test
    void shouldReportThatNoCpuIsLeft() {
        final AutoPinning pinning = AutoPinning.of(RecordedTree.named("machine-at-hand").topology(root));
        final IllegalArgumentException refused =
            assertThrows(IllegalArgumentException.class, () -> pinning.assign(THREADS, Set.of(0, 1)));
        assertEquals(
            "no CPU is left to pin threads to: CPUs 0-1 can be used, and threads with a CPU of their own have all of it",
            refused.getMessage());
    }

    @Test
    void shouldReportAMissingDevice() {
        final AutoPinning pinning = AutoPinning.of(RecordedTree.named("two-socket-smt").topology(root)).nearDevice("mlx9_9");
        final var description = Pipeline.builder().withoutCountersFile().onAll((wc, sequence, endOfBatch) -> { }).pin(pinning);
        assertTrue(assertThrows(IllegalArgumentException.class, description::start).getMessage().contains("mlx9_9"));
    }

    @Test
    void shouldStartAPipelineWithItsThreadsOnThoseCpus() throws Exception {
        final Topology here = Topology.ofThisMachine();
        final ObservedThread first = new ObservedThread();
        final ObservedThread second = new ObservedThread();
        Pipeline.builder().name("pinned").withoutCountersFile()
            .onAll(first, options -> options.name("first"))
            .onAll(second, options -> options.name("second"))
            .pin(AutoPinning.of(here))
            .start().close();
        final Map<String, Pinning.Assignment> assigned = AutoPinning.of(here).assign(
            List.of(new Pinning.Candidate("pinned-poller", true), new Pinning.Candidate("first", false),
                new Pinning.Candidate("second", false)), Set.of());
        assertEquals(allowed(assigned.get("first"), here), first.allowed);
        assertEquals(allowed(assigned.get("second"), here), second.allowed);
    }

    private static BitSet allowed(final Pinning.Assignment assignment, final Topology here) {
        final BitSet cpus = new BitSet();
        if (assignment.cpu() == Pinning.ANY_CPU) {
            here.affinity().stream().forEach(cpus::set);
        } else {
            cpus.set(assignment.cpu());
        }
        return cpus;
    }

    /** Records the affinity of its thread. */
    private static final class ObservedThread implements CompletionHandler, HandlerLifecycle {
        private volatile BitSet allowed;

        @Override
        public void onStart(final SlotControl slots) {
            allowed = ThreadAffinity.get();
        }

        @Override
        public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            throw new AssertionError("no queue, no completion");
        }
    }
}
