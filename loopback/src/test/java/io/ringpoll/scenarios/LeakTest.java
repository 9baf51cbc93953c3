package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.device.Device;
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
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.ProcessResources;
import io.ringpoll.testing.TestDevice;
import java.io.PrintStream;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Creates and closes every object of the binding many times in a child JVM without a compiler, so that its C heap belongs to the
 * binding and librpma: leaked strings and private data show. Only on the loopback device: it is a matter of user space, and an
 * interpreter in an emulation would take minutes.
 */
class LeakTest {
    /** For an interpreter that has to share its CPU, of which it needs ten seconds and more. */
    private static final int TIMEOUT_SECONDS = 300;
    private static final int WARM_UP = 300;
    private static final int ROUNDS = 5;
    private static final int TIMES = 300;
    /** Less than the smallest block of malloc. */
    private static final long ALLOWED_BYTES_EACH = 16;

    @Test
    @Timeout(320)
    void shouldFreeTheNativeMemoryOfAllClosedObjects() {
        final String output = JavaProcess.create().option("-Xint").option("-XX:+UseSerialGC")
            .property(Device.DEVICE_PROPERTY, "loopback").timeoutSeconds(TIMEOUT_SECONDS).run(EverythingManyTimes.class);
        final List<Long> growths = output.lines().map(Long::parseLong).sorted().toList();
        assertEquals(ROUNDS, growths.size());
        // The JVM frees or takes something of its own in one round or another; a leak is there in each.
        assertTrue(growths.get(ROUNDS / 2) < ALLOWED_BYTES_EACH * TIMES,
            "bytes that rounds of " + TIMES + " leave behind: " + growths);
    }

    /** Prints how many bytes of C heap each round has left behind. */
    static final class EverythingManyTimes extends Scenario {
        private static final PrintStream OUT = System.out;

        private final Completions completions = new Completions();

        public static void main(final String[] arguments) throws InterruptedException {
            new EverythingManyTimes().run();
        }

        private void run() throws InterruptedException {
            try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = listen(peer)) {
                makeAndClose(peer, endpoint, WARM_UP);
                long before = ProcessResources.settledHeapBytes();
                for (int round = 0; round < ROUNDS; round++) {
                    makeAndClose(peer, endpoint, TIMES);
                    final long after = ProcessResources.settledHeapBytes();
                    OUT.println(after - before);
                    before = after;
                }
            }
        }

        private void makeAndClose(final Peer peer, final Endpoint endpoint, final int times) {
            for (int i = 0; i < times; i++) {
                makeAndClose(peer, endpoint);
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
