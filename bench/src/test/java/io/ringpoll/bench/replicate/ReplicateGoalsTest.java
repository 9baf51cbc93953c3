package io.ringpoll.bench.replicate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.measure.Goal;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.ratis.RdmaConfigKeys;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The goals of {@code replicate}: each figure of its reports that has one has a verdict. */
@Timeout(60)
class ReplicateGoalsTest {
    private static final int ROUNDS = 6;
    private static final List<Contestant> BOTH = Contestant.compared(Map.of(), List.of());

    private final StringWriter said = new StringWriter();
    private final PrintWriter out = new PrintWriter(said, true);

    private static ReplicateConfig config() {
        return new ReplicateConfig("127.0.0.1", 100, 100, 1, 0, TimeUnit.SECONDS.toNanos(1), true, false);
    }

    private static ReplicateResult result(final long latencyUs, final double appendsPerSecond) {
        final Histogram latencies = new Histogram(3);
        latencies.recordValue(TimeUnit.MICROSECONDS.toNanos(latencyUs));
        return new ReplicateResult(appendsPerSecond, latencies, 1, AppendProfile.NONE);
    }

    private void assertVerdicts(final String prefix, final int goals) {
        assertEquals(goals, Goals.all().stream().map(Goal::result).filter(name -> name.startsWith(prefix)).filter(name ->
            said.toString().lines().anyMatch(line -> line.startsWith(name + " ") && line.endsWith(" met"))).count(),
            said.toString());
    }

    @Test
    void shouldPrintTheVerdictsOnBothWindowsOfProcesses() {
        final ProcessComparison comparison = new ProcessComparison(config(), List.of(1, 32), BOTH, 0, ROUNDS, List.of(), out);
        for (int round = 1; round <= ROUNDS; round++) {
            comparison.record(round, BOTH.getFirst(), 0, result(50, 1_000));
            comparison.record(round, BOTH.getLast(), 0, result(100, 500));
            comparison.record(round, BOTH.getFirst(), 1, result(500, 31_000));
            comparison.record(round, BOTH.getLast(), 1, result(5_000, 10_000));
        }
        comparison.print(out);
        assertVerdicts("replicate/ringpoll/100-bytes/", 2);
        assertTrue(said.toString().contains("2 met, 0 missed, 0 not shown"), said.toString());
    }

    /** Both contestants append; ringpoll ten times as fast. */
    private void compare(final int maxPayloadBytes, final int window, final int servers, final int groups) {
        final Replication comparison = new Replication(new ReplicateConfig("127.0.0.1", 100, maxPayloadBytes, window, 0,
            TimeUnit.SECONDS.toNanos(1), true, false, servers, groups, false), BOTH, 0, ROUNDS, out);
        for (int round = 1; round <= ROUNDS; round++) {
            comparison.record(round, BOTH.getFirst(), result(50, 10_000));
            comparison.record(round, BOTH.getLast(), result(500, 1_000));
        }
        comparison.print(out);
    }

    @Test
    void shouldPrintTheVerdictsOnNodesOfOneProcess() {
        compare(100, 1, 3, 1);
        compare(100, 32, 3, 1);
        assertVerdicts("replicate/ringpoll/100-bytes/", 3);
    }

    @Test
    void shouldPrintTheVerdictOnMixedLengths() {
        compare(1_000_000, 8, 3, 1);
        assertVerdicts("replicate/ringpoll/100-1000000-bytes/", 1);
    }

    @Test
    void shouldPrintTheVerdictsOnSevenServersAndOnAHundredGroups() {
        compare(100, 1, 7, 1);
        compare(100, 2, 3, 100);
        assertVerdicts("replicate/ringpoll/100-bytes/", 2);
    }

    @Test
    void shouldPrintTheVerdictOnStreamsOfBothLengths() {
        compareStreams(BOTH);
        assertVerdicts("replicate/ringpoll/stream-", 2);
    }

    private void compareStreams(final List<Contestant> contestants) {
        for (final int streamBytes : List.of(1_000_000, 64_000_000)) {
            final StreamComparison comparison = new StreamComparison(config(), streamBytes, contestants, ROUNDS, out);
            for (int round = 0; round < ROUNDS; round++) {
                comparison.record(round, contestants.getFirst(), new StreamRun.Result(2_100, 100));
                comparison.record(round, contestants.getLast(), new StreamRun.Result(1_000, 100));
            }
            comparison.print(out);
        }
    }

    /** The goals are the same for both bindings; other settings have none. */
    @Test
    void shouldPrintTheVerdictsOnBothBindings() {
        final List<Contestant> contestants = Contestant.compared(Map.of(), List.of(Map.of(RdmaConfigKeys.API_KEY, "verbs"),
            Map.of(RdmaConfigKeys.API_KEY, "verbs", "raft.rdma.poller.shared", "true")));
        final Replication comparison = new Replication(config(), contestants, 0, ROUNDS, out);
        for (int round = 1; round <= ROUNDS; round++) {
            for (final Contestant each : contestants) {
                comparison.record(round, each, result(each.transport() == Transport.NETTY ? 500 : 50, 1_000));
            }
        }
        comparison.print(out);
        assertEquals(List.of("replicate/ringpoll/100-bytes/window-1/p50", "replicate/ringpoll,api=verbs/100-bytes/window-1/p50",
            "replicate/ringpoll/100-bytes/window-1/p99", "replicate/ringpoll,api=verbs/100-bytes/window-1/p99"),
            said.toString().lines().filter(line -> line.startsWith("replicate/") && line.endsWith(" met"))
                .map(line -> line.substring(0, line.indexOf(' '))).toList());
        assertTrue(said.toString().contains("4 met, 0 missed, 0 not shown"), said.toString());
    }

    @Test
    void shouldPrintTheVerdictsOnStreamsOverVerbs() {
        compareStreams(Contestant.compared(Map.of(RdmaConfigKeys.API_KEY, "verbs"), List.of()));
        assertTrue(said.toString().lines().anyMatch(line ->
            line.startsWith("replicate/ringpoll,api=verbs/stream-64000000/window-1 ") && line.endsWith(" met")), said.toString());
    }
}
