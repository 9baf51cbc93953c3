package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.rpma.SharedReceiveQueue;
import io.ringpoll.rpma.SharedReceiveQueueConfig;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.TestDevice;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Creates and closes every object of the binding of librpma many times, and looks for what remains of the C heap. */
class LeakTest {
    @Test
    @Timeout(RepeatedLife.TEST_LIMIT_SECONDS)
    void shouldFreeTheNativeMemoryOfAllClosedObjects() {
        RepeatedLife.assertLeavesNothing(EverythingManyTimes.class);
    }

    /** One client and one server in each life. */
    static final class EverythingManyTimes extends Scenario {
        private final Completions completions = new Completions();

        public static void main(final String[] arguments) throws InterruptedException {
            new EverythingManyTimes().run();
        }

        private void run() throws InterruptedException {
            try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = listen(peer)) {
                RepeatedLife.printGrowth(() -> makeAndClose(peer, endpoint));
            }
        }

        private void makeAndClose(final Peer peer, final Endpoint endpoint) {
            try (SharedReceiveQueueConfig queueConfig = SharedReceiveQueueConfig.create().rqSize(8).rcqSize(8);
                SharedReceiveQueue shared = peer.sharedReceiveQueue(queueConfig);
                ConnectionConfig config = ConnectionConfig.create().rcqSize(8).sharedCompletionChannel(true);
                ConnectionConfig serverConfig = ConnectionConfig.create().sharedReceiveQueue(shared);
                LocalMemoryRegion memory = peer.allocate(64, MemoryUsage.values());
                RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(memory.descriptor());
                Connection client = peer.request(ADDRESS, port(), config).connect(memory.descriptor());
                Connection server = endpoint.nextRequest(serverConfig, TIMEOUT_MS).orElseThrow().connect(memory.descriptor())) {
                awaitEvent(client, ConnectionEvent.ESTABLISHED);
                awaitEvent(server, ConnectionEvent.ESTABLISHED);
                try (VerbsCompletionQueue queue = client.completionQueue().openVerbs();
                    CompletionChannel channel = CompletionChannel.borrow(queue)) {
                    queue.requestNotification(false);
                    assertTrue(client.write(remote, 0, memory, 32, 8, CompletionFlag.ALWAYS, 1));
                    assertEquals(queue, channel.await(TIMEOUT_MS));
                    awaitSuccess(completions, queue, WcOpcode.RDMA_WRITE);
                }
                assertEquals(Optional.empty(), client.awaitCompletions(0));
                client.disconnect();
                awaitDisconnect(server);
                awaitEvent(client, ConnectionEvent.CLOSED);
            }
        }
    }
}
