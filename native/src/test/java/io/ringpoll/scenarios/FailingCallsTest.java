package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.rpma.RpmaException;
import io.ringpoll.rpma.SharedReceiveQueue;
import io.ringpoll.rpma.SharedReceiveQueueConfig;
import io.ringpoll.testing.CallFault;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.ProcessResources;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.verbs.CompletionChannel;
import io.ringpoll.verbs.VerbsCompletionQueue;
import io.ringpoll.verbs.VerbsException;
import io.ringpoll.verbs.WcOpcode;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The life of a connection, again and again, each time with another native call failing, until every one has: each failure is
 * told by an exception, and nothing stays behind.
 */
class FailingCallsTest extends Scenario {
    private static final int EIO = 5;
    private static final int FEWEST_CALLS = 60;
    private static final int MOST_CALLS = 1_000;
    /**
     * What librpma and librdmacm also call where they go on without its result, mostly when they tidy up; and an event that is
     * asked for once more, for errno, and comes then.
     */
    private static final Set<String> UNNOTICED =
        Set.of("ibv_dealloc_pd", "ibv_get_cq_event", "ibv_query_device", "rdma_ack_cm_event", "rdma_destroy_id");

    private final Completions completions = new Completions();

    @AfterEach
    void failNoMore() {
        if (TestDevice.isLoopback()) {
            CallFault.plan(0, 0);
        }
    }

    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void shouldTellEachFailureAndLeaveNothingBehind() {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device fails on request");
        try (LogCapture log = new LogCapture()) {
            live();
            Map<String, Long> objects = ProcessResources.objects();
            int fileDescriptors = ProcessResources.fileDescriptors();
            final Set<String> unnoticed = new TreeSet<>();
            int n = 0;
            int leaks = 0;
            Optional<String> failed;
            do {
                n++;
                CallFault.plan(n, EIO);
                final Optional<RuntimeException> told = outcomeOf();
                failed = CallFault.failed();
                CallFault.plan(0, 0);
                final String what = "call " + n + ", " + failed.orElse("none");
                check(what, failed, told, unnoticed);
                if (isInNewConnection(failed, told) && !objects.equals(ProcessResources.objects())) {
                    objects = ProcessResources.objects();
                    fileDescriptors = ProcessResources.fileDescriptors();
                    leaks++;
                }
                assertEquals(objects, ProcessResources.objects(), () -> what + ", " + told);
                assertEquals(fileDescriptors, ProcessResources.fileDescriptors(), () -> what + ": file descriptors, " + told);
            } while (failed.isPresent() && n < MOST_CALLS);
            assertEquals(UNNOTICED, unnoticed);
            assertTrue(n > FEWEST_CALLS && n < MOST_CALLS, n + " calls");
            // librpma's rpma_conn_new_accept() never destroys the id of a request that it has accepted and then cannot make a
            // connection of; its counterpart on the active side does.
            assertEquals(1, leaks, "places in librpma that leave something behind");
        }
    }

    /** Whether the call failed in librpma's rpma_conn_new(), after the id has been given a channel of its own. */
    private static boolean isInNewConnection(final Optional<String> failed, final Optional<RuntimeException> told) {
        return failed.equals(Optional.of("ibv_reg_mr")) && told.isPresent() &&
            told.get().getMessage().startsWith("rpma_conn_req_connect failed");
    }

    private static void check(final String what, final Optional<String> failed, final Optional<RuntimeException> told,
        final Set<String> unnoticed) {
        if (failed.isEmpty()) {
            assertEquals(Optional.empty(), told, () -> what);
            return;
        }
        if (told.isEmpty()) {
            unnoticed.add(failed.get());
            return;
        }
        assertTrue(told.get() instanceof RpmaException || told.get() instanceof VerbsException, () -> what + ": " + told);
        assertEquals(1, told.get().getMessage().lines().count(), () -> what + ": " + told);
    }

    private Optional<RuntimeException> outcomeOf() {
        try {
            live();
            return Optional.empty();
        } catch (final RuntimeException failure) {
            return Optional.of(failure);
        }
    }

    private void live() {
        try (Peer peer = Peer.ofLocal(ADDRESS);
            SharedReceiveQueueConfig queueConfig = SharedReceiveQueueConfig.create().rcqSize(8);
            SharedReceiveQueue shared = peer.sharedReceiveQueue(queueConfig);
            ConnectionConfig config = ConnectionConfig.create().rcqSize(8).sharedCompletionChannel(true);
            ConnectionConfig serverConfig = ConnectionConfig.create().sharedReceiveQueue(shared);
            LocalMemoryRegion memory = peer.allocate(64, MemoryUsage.values());
            Endpoint endpoint = peer.listen(ADDRESS, port());
            Connection client = peer.request(ADDRESS, port(), config).connect();
            Connection server = endpoint.nextRequest(serverConfig, TIMEOUT_MS).orElseThrow().connect(memory.descriptor())) {
            awaitEvent(client, ConnectionEvent.ESTABLISHED);
            awaitEvent(server, ConnectionEvent.ESTABLISHED);
            write(client);
            client.disconnect();
            awaitDisconnect(server);
            awaitEvent(client, ConnectionEvent.CLOSED);
        }
    }

    private void write(final Connection client) {
        try (RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(client.privateData());
            VerbsCompletionQueue queue = client.completionQueue().openVerbs();
            CompletionChannel channel = CompletionChannel.borrow(queue)) {
            queue.requestNotification(false);
            assertTrue(client.atomicWrite(remote, 0, 1, CompletionFlag.ALWAYS, 1));
            assertEquals(queue, channel.await(TIMEOUT_MS));
            awaitSuccess(completions, queue, WcOpcode.RDMA_WRITE);
        }
    }
}
