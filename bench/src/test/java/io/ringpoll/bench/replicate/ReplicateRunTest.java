package io.ringpoll.bench.replicate;


import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.bench.measure.ThreadCosts;
import io.ringpoll.device.Device;
import io.ringpoll.ratis.RdmaConfigKeys;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ReplicateRunTest {
    @ParameterizedTest
    @EnumSource(names = {"RINGPOLL", "NETTY"})
    void shouldFindEveryAcknowledgedRecordInEveryLog(final Transport transport) throws Exception {
        final ReplicateConfig config =
            new ReplicateConfig("127.0.0.1", 100, 1_000_000, 8, 0, TimeUnit.MILLISECONDS.toNanos(300), false, true);
        final ReplicateResult result = new ReplicateRun(config, Contestant.of(transport, Map.of())).run();
        assertTrue(result.verified() > 1);
        // Without the first one, which waits for the leader.
        assertEquals(result.verified() - 1, result.latencies().getTotalCount());
        assertEquals(result.verified() - 1, result.profile().appends());
        // Each append wakes at least the log thread of the leader, or the state machine thread.
        final ThreadCosts.Cost engine = result.profile().byKind().get("engine: log, appenders, events, state machine");
        assertTrue(engine.wakeUps() > 0 && engine.cpuNs() > 0, result.profile().toString());
    }

    @ParameterizedTest
    @EnumSource(names = {"RINGPOLL", "NETTY"})
    void shouldAppendToAllGroupsOfAllServers(final Transport transport) throws Exception {
        final ReplicateConfig config =
            new ReplicateConfig("127.0.0.1", 100, 100, 6, 0, TimeUnit.MILLISECONDS.toNanos(300), true, false, 5, 3, false);
        final ReplicateRun run = new ReplicateRun(config, Contestant.of(transport, Map.of()));
        final ReplicateResult result = run.run();
        assertEquals(result.verified() - config.groups(), result.latencies().getTotalCount());
        for (int i = 0; i < config.groups(); i++) {
            final int group = i;
            // The run has found the records in all logs.
            assertThrows(IOException.class, () -> run.verify(List.of(new RecordLog.State(0, 0, 0)), group));
        }
    }

    @Test
    void shouldDrawEachOrderOfMagnitudeEquallyOften() {
        final ReplicateConfig config = new ReplicateConfig("127.0.0.1", 100, 1_000_000, 1, 0, 1, true, false);
        final Random random = new Random(17);
        final int[] byMagnitude = new int[7];
        for (int i = 0; i < 40_000; i++) {
            final int length = config.nextPayloadBytes(random);
            assertTrue(length >= 100 && length <= 1_000_000, () -> length + " bytes");
            byMagnitude[(int) Math.log10(length)]++;
        }
        for (int magnitude = 2; magnitude < 6; magnitude++) {
            assertEquals(10_000, byMagnitude[magnitude], 500);
        }
        assertEquals(8, new ReplicateConfig("127.0.0.1", 8, 8, 1, 0, 1, true, false).nextPayloadBytes(random));
    }

    @ParameterizedTest
    @EnumSource(names = {"RINGPOLL", "NETTY"})
    void shouldFindRecordsOfAnyLengthInEveryLog(final Transport transport) throws Exception {
        // Netty needs more than the time-out of a request for the longest ones, if other work takes the CPUs.
        final int longest = transport == Transport.NETTY ? 4_000_000 : ReplicateConfig.LONGEST_RECORD;
        for (final int bytes : new int[] {0, 7, longest}) {
            final ReplicateConfig config = new ReplicateConfig("127.0.0.1", bytes, bytes, 1, 0, 1, false, false);
            assertTrue(new ReplicateRun(config, Contestant.of(transport, Map.of())).run().verified() > 0);
        }
    }

    @Test
    void shouldDrawLengthsFromNoByteOn() {
        final ReplicateConfig config = new ReplicateConfig("127.0.0.1", 0, 998, 1, 0, 1, true, false);
        final Random random = new Random(17);
        final int[] byMagnitude = new int[3];
        for (int i = 0; i < 30_000; i++) {
            byMagnitude[(int) Math.log10(config.nextPayloadBytes(random) + 1)]++;
        }
        for (final int draws : byMagnitude) {
            assertEquals(10_000, draws, 1_500);
        }
    }

    private static ReplicateResult result(final double appendsPerSecond, final long latencyNs) {
        final Histogram latencies = new Histogram(3);
        latencies.recordValue(latencyNs);
        return new ReplicateResult(appendsPerSecond, latencies, 5, AppendProfile.NONE);
    }

    @Test
    void shouldNameTheBindingInTheResultsAndTheDeviceLine() throws Exception {
        final ReplicateConfig config = new ReplicateConfig("127.0.0.1", 100, 1_000, 4, 0, 1, true, false);
        final List<Contestant> all = Contestant.compared(Map.of(RdmaConfigKeys.API_KEY, "verbs"),
            List.of(Map.of("raft.rdma.poller.shared", "true"), Map.of(RdmaConfigKeys.API_KEY, "rpma")));
        assertEquals(List.of("ringpoll,api=verbs", "ringpoll,api=verbs,shared=true", "ringpoll,api=rpma", "netty"),
            all.stream().map(Contestant::name).toList());
        final String verbs = tables(config, List.of(all.get(0), all.get(3)));
        assertTrue(verbs.startsWith(Device.current().selection() + "; verbs\n"), verbs);
        assertTrue(verbs.contains("replicate/ringpoll,api=verbs/100-1000-bytes/"), verbs);
        assertFalse(verbs.contains("librpma"), verbs);
        assertEquals(Device.current().selection() + "; verbs", deviceInJson(config, List.of(all.get(0), all.get(3))));
        assertEquals(Device.current().description(), deviceInJson(config, all));
        assertEquals(Device.current().description(), deviceInJson(config, all.subList(3, 4)));
        final String both = tables(config, all);
        assertTrue(both.startsWith(Device.current().selection() + "; verbs\n" + Device.current().description() + "\n"), both);
    }

    private static String deviceInJson(final ReplicateConfig config, final List<Contestant> contestants) throws IOException {
        final Replication replication = new Replication(config, contestants, 0, 1, new PrintWriter(new StringWriter()));
        contestants.forEach(each -> replication.add(each, result(1_000, 40_000)));
        return new ObjectMapper().readTree(replication.toJson()).path("machine").path("device").asText();
    }

    private static String tables(final ReplicateConfig config, final List<Contestant> contestants) {
        final Replication replication = new Replication(config, contestants, 0, 1, new PrintWriter(new StringWriter()));
        contestants.forEach(each -> replication.add(each, result(1_000, 40_000)));
        final StringWriter out = new StringWriter();
        replication.printTables(new PrintWriter(out, true));
        return out.toString();
    }

    @Test
    void shouldReportTheCostsBesideThoseOfNettyAsJson() throws Exception {
        final ReplicateConfig config = new ReplicateConfig("127.0.0.1", 100, 1_000, 4, 0, 1, true, false);
        final List<Contestant> all = Contestant.compared(Map.of(), List.of());
        final Replication replication = new Replication(config, all, 0, 1, new PrintWriter(new StringWriter()));
        for (final Contestant each : all) {
            replication.add(each, each.transport() == Transport.NETTY ? result(1_000, 40_000) : result(4_000, 20_000));
        }
        final JsonNode root = new ObjectMapper().readTree(replication.toJson());
        final JsonNode results = root.get("results");
        final String name = "replicate/ringpoll/100-1000-bytes/window-4/";
        assertEquals(List.of(name + "append", name + "p50", name + "p99"), results.findValuesAsText("name"));
        assertEquals(250_000, results.get(0).get("ringpoll").asDouble());
        assertEquals(1_000_000, results.get(0).get("baseline").asDouble());
        assertEquals(0.25, results.get(0).get("ratio").asDouble());
        assertEquals(0.5, results.get(1).get("ratio").asDouble(), 0.01);
        assertEquals("netty", results.get(2).get("baselineName").asText());
        assertEquals(1_000, root.get("maxPayloadBytes").asInt());
        assertEquals(3, root.get("servers").asInt());
        assertEquals(1, root.get("groups").asInt());
        assertEquals(4_000, root.get("ringpoll").get("appendsPerSecond").asDouble());
    }

    @Test
    void shouldNameUnusualServersAndGroupsInFigures() {
        final ReplicateConfig usual = new ReplicateConfig("127.0.0.1", 8, 8, 1, 0, 1, true, false);
        assertEquals("", usual.clusterName());
        final ReplicateConfig unusual = new ReplicateConfig("127.0.0.1", 8, 8, 1, 0, 1, true, false, 7, 100, false);
        assertEquals("7-servers/100-groups/", unusual.clusterName());
    }

    @Test
    void shouldPrintTheRatioOfPairedRunsAndWhetherItShowsADifference() {
        // The ratio of the medians, 0.94, would show none of the spread.
        final StringWriter printed = new StringWriter();
        final Replication replication = replication(8, List.of());
        for (int round = 0; round < 8; round++) {
            add(replication, round, 40_000 + (round % 2 == 0 ? 10_000 : -15_000), 40_000);
        }
        replication.print(new PrintWriter(printed, true));
        assertTrue(printed.toString().matches("(?s).*/p50: \\d\\.\\d{3} \\(0\\.6\\d* to 1\\.2\\d*\\) of netty's, "
            + "no difference shown, over 8 runs.*"), printed.toString());
    }

    @Test
    void shouldPrintThatThreeRunsAreTooFewForADifference() {
        final StringWriter printed = new StringWriter();
        final Replication replication = replication(3, List.of());
        for (int round = 0; round < 3; round++) {
            add(replication, round, 20_000, 40_000);
        }
        replication.print(new PrintWriter(printed, true));
        assertTrue(printed.toString().contains("/p50: 0.500 of netty's, too few runs, over 3 runs"), printed.toString());
    }

    @Test
    void shouldNotMeasureNettyAlwaysAfterRingpoll() {
        final Replication replication = replication(1, List.of());
        final Random random = new Random(1);
        final Set<Transport> first = new HashSet<>();
        for (int round = 0; round < 6; round++) {
            final List<Contestant> order = replication.order(random);
            assertEquals(2, Set.copyOf(order).size());
            first.add(order.getFirst().transport());
        }
        assertEquals(Set.of(Transport.RINGPOLL, Transport.NETTY), first);
    }

    @Test
    void shouldMeasureAVariantOnceThatIsGivenTwice() {
        final Map<String, String> variant = Contestant.settings("raft.rdma.handlers=poller");
        assertEquals(3, replication(1, List.of(variant, variant)).order(new Random(1)).size());
    }

    private static Replication replication(final int rounds, final List<Map<String, String>> variants) {
        return new Replication(new ReplicateConfig("127.0.0.1", 100, 100, 1, 0, 1, true, false),
            Contestant.compared(Map.of(), variants), 0, rounds, new PrintWriter(new StringWriter()));
    }

    private static void add(final Replication replication, final int round, final long ours, final long netty) {
        for (final Contestant each : replication.order(new Random(round))) {
            replication.add(each, result(1_000, each.transport() == Transport.NETTY ? netty : ours));
        }
    }

    @Test
    void shouldDetectACorruptedRecord() {
        final ReplicateConfig config = new ReplicateConfig("127.0.0.1", 8, 8, 1, 0, 1, true, false);
        final ReplicateRun run = new ReplicateRun(config, Contestant.of(Transport.RINGPOLL, Map.of()));
        assertThrows(IOException.class, () -> run.verify(List.of(new RecordLog.State(1, 0, 17)), 0));
        assertThrows(IOException.class, () -> run.verify(List.of(new RecordLog.State(0, 1, 0)), 0));
    }

    @Test
    void shouldCompareEachVariantWithItsSettingsChanged() {
        final List<Contestant> all = Contestant.compared(Map.of("raft.rdma.credits", "8", "raft.rdma.handlers", "one"), List.of(
            Contestant.settings("raft.rdma.handlers=poller"), Contestant.settings("raft.rdma.handlers=poller,raft.a=b=c")));
        assertEquals(List.of("ringpoll", "ringpoll,handlers=poller", "ringpoll,handlers=poller,a=b=c", "netty"),
            all.stream().map(Contestant::name).toList());
        assertEquals(Map.of("raft.rdma.credits", "8", "raft.rdma.handlers", "poller"), all.get(1).properties());
        assertEquals("b=c", all.get(2).properties().get("raft.a"));
        assertEquals("one", all.get(0).properties().get("raft.rdma.handlers"));
    }
}
