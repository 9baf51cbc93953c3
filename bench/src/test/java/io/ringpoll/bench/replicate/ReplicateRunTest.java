package io.ringpoll.bench.replicate;


import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.measure.ThreadCosts;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
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
            new ReplicateConfig("127.0.0.1", 20_000, 8, 0, TimeUnit.MILLISECONDS.toNanos(300), false, true);
        final ReplicateResult result = new ReplicateRun(config, Contestant.of(transport, Map.of())).run();
        assertTrue(result.verified() > 0);
        assertEquals(result.verified(), result.latencies().getTotalCount());
        assertEquals(result.verified(), result.profile().appends());
        // Each append wakes at least the log thread of the leader, or the state machine thread.
        final ThreadCosts.Cost engine = result.profile().byKind().get("engine: log, appenders, events, state machine");
        assertTrue(engine.wakeUps() > 0 && engine.cpuNs() > 0, result.profile().toString());
    }

    @Test
    void shouldDetectACorruptedRecord() {
        final ReplicateConfig config = new ReplicateConfig("127.0.0.1", 8, 1, 0, 1, true, false);
        final ReplicateRun run = new ReplicateRun(config, Contestant.of(Transport.RINGPOLL, Map.of()));
        assertThrows(IOException.class, () -> run.verify(List.of(new RecordLog.State(1, 0, 17)), 1));
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
