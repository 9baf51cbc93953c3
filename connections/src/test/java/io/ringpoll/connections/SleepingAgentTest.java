package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.testing.TestDevice;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A runner that invokes the agent of a set, and sleeps on its completion events. */
@Tag(TestDevice.TAG)
@Timeout(60)
class SleepingAgentTest {
    private static final long BOUND_NS = TimeUnit.MINUTES.toNanos(5);
    private static final UnsafeBuffer MESSAGE = new UnsafeBuffer("m".getBytes());

    private final List<Throwable> errors = new CopyOnWriteArrayList<>();

    @Test
    void shouldDeliverAMessageThatEndsASleep() throws Exception {
        final Recorder server = new Recorder();
        final ConnectionSet set = SetPair.builder().asAgent().listener(server).pipelines(
            index -> Pipeline.builder().withoutCountersFile().idleStrategy(new EventDrivenIdle(0, BOUND_NS))).start();
        final Pipeline pipeline = set.pipelines().getFirst();
        try (ConnectionSet clients = SetPair.builder().listener(new Recorder()).start();
            AgentRunner runner = new AgentRunner(pipeline.agentIdleStrategy(), errors::add, null, set.agents().getFirst())) {
            AgentRunner.startOnThread(runner);
            final MessageConnection connection = clients.connect(TestDevice.address(), set.listen(0));
            while (pipeline.pollerCounters().sleeps() == 0) {
                Thread.sleep(1);
            }
            connection.execute(() -> connection.trySend(MESSAGE, 0, 1));
            assertEquals("message m", server.await("message"));
            assertTrue(set.close(BOUND_NS));
        }
        assertEquals(List.of(), errors);
    }
}
