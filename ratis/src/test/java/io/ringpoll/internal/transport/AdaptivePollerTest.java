package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.poller.PollerCounters;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The default poller of nodes: it spins after work, then sleeps until a completion event. */
@Tag(TestDevice.TAG)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class AdaptivePollerTest {
    /** Nothing but the requests of the test wakes the poller. */
    private static final PeerBounds SILENT = PeerBounds.DEFAULT.withKeepalive(100_000, 200_000);
    private static final long SPIN_NS = TimeUnit.MICROSECONDS.toNanos(50);
    /** Both ends of a connection. */
    private static final int QUEUES = 2;
    private static final int SLEEPS = 3;
    private static final int REQUESTS = 20;
    private static final long MANY_POLLS = 20_000;

    private final Nodes nodes;

    AdaptivePollerTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    private PollerCounters counters;

    /** Connects two nodes that share a poller. */
    private Link connect(final long spinNs) throws Exception {
        final PollerConfig config = new PollerConfig(true, -1, WaitMode.BLOCK, spinNs, HandlerThreads.POLLER, WaitMode.BLOCK);
        final Nodes.Server server = nodes.server(Nodes.config("server", config).with(SILENT), Nodes::echo);
        final Node client = nodes.node(Nodes.config("client", config).with(SILENT), Nodes::echo, new TransportCounters());
        final Link link = Nodes.connect(client, server.port());
        Nodes.assertEchoed(link, Nodes.random(10));
        counters = client.poller().counters();
        return link;
    }

    @Test
    void shouldPollOncePerSleepWhileIdle() throws Exception {
        connect(SPIN_NS);
        awaitSleeps(SLEEPS);
        final long sleepsBefore = counters.sleeps();
        final long pollsBefore = counters.polls();
        awaitSleeps(SLEEPS);
        final long polls = counters.polls() - pollsBefore;
        // The counters are read one after the other: one sleep more.
        final long sleeps = counters.sleeps() - sleepsBefore + 1;
        assertTrue(polls <= sleeps * QUEUES, () -> polls + " polls in " + sleeps + " sleeps");
    }

    @Test
    void shouldBeWokenByRequestsThatFindItAsleep() throws Exception {
        final Link link = connect(SPIN_NS);
        final long events = counters.events();
        // A late completion may have woken it first: then this request raises no event.
        while (counters.events() < events + REQUESTS) {
            awaitSleeps(1);
            Nodes.assertEchoed(link, Nodes.random(10));
        }
    }

    @Test
    void shouldSpinAfterWorkForAsLongAsConfigured() throws Exception {
        final Link link = connect(TimeUnit.HOURS.toNanos(1));
        // Where other threads need its core, it sleeps nevertheless, and spins after the next request.
        while (!pollsOftenWithoutASleep()) {
            Nodes.assertEchoed(link, Nodes.random(10));
        }
    }

    private boolean pollsOftenWithoutASleep() throws InterruptedException {
        final long sleeps = counters.sleeps();
        final long polls = counters.polls();
        Nodes.await("many polls or a sleep", () -> counters.polls() - polls > MANY_POLLS || counters.sleeps() > sleeps);
        return counters.sleeps() == sleeps;
    }

    private void awaitSleeps(final int more) throws InterruptedException {
        final long before = counters.sleeps();
        Nodes.await("sleeps of the poller", () -> counters.sleeps() >= before + more);
    }
}
