package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.VerbsPair;
import io.ringpoll.verbs.ConnectionEventType;
import io.ringpoll.verbs.ConnectionId;
import io.ringpoll.verbs.ConnectionParameters;
import io.ringpoll.verbs.Listener;
import io.ringpoll.verbs.MemoryRegion;
import io.ringpoll.verbs.ProtectionDomain;
import io.ringpoll.verbs.QueuePair;
import io.ringpoll.verbs.QueuePairAttributes;
import io.ringpoll.verbs.RdmaDevices;
import io.ringpoll.verbs.ReceiveList;
import io.ringpoll.verbs.RemoteMemory;
import io.ringpoll.verbs.SendFlag;
import io.ringpoll.verbs.SendList;
import io.ringpoll.verbs.SharedReceiveQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Creates and closes every object of the package verbs many times, and looks for what remains of the C heap. */
class VerbsLeakTest {
    @Test
    @Timeout(RepeatedLife.TEST_LIMIT_SECONDS)
    void shouldFreeTheNativeMemoryOfAllClosedObjects() {
        RepeatedLife.assertLeavesNothing(EverythingManyTimes.class);
    }

    /** One rejected client, and one that is served, in each life. */
    static final class EverythingManyTimes {
        private static final int TIMEOUT_MS = VerbsPair.TIMEOUT_MS;
        private static final int DEPTH = 8;
        private static final int LENGTH = 8;
        private static final byte[] REASON = new byte[100];

        private final Completions completions = new Completions();
        /** It cannot be closed: a hold of memory that can is a thread of the JVM, which takes and frees heap of its own. */
        private final MemorySegment userMemory = Arena.global().allocate(2 * LENGTH, Long.BYTES);
        private final VerbsContext context = RdmaDevices.ofLocal(VerbsPair.address());

        private EverythingManyTimes() {
        }

        public static void main(final String[] arguments) throws InterruptedException {
            final EverythingManyTimes lives = new EverythingManyTimes();
            RepeatedLife.printGrowth(lives::makeAndClose);
        }

        @SuppressWarnings("try") // the responder's queue pair needs no call
        private void makeAndClose() {
            try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1);
                ProtectionDomain domain = ProtectionDomain.create(context);
                MemoryRegion memory = domain.allocate(2 * LENGTH, VerbsPair.ALL);
                MemoryRegion registered = domain.register(userMemory, VerbsPair.ALL);
                CompletionChannel channel = CompletionChannel.create(context);
                VerbsCompletionQueue sends = VerbsCompletionQueue.create(context, "sends", DEPTH, channel);
                VerbsCompletionQueue receives = VerbsCompletionQueue.createWithTimestamps(context, "receives", DEPTH, channel);
                SharedReceiveQueue shared = SharedReceiveQueue.create(domain, DEPTH, 1);
                ConnectionId client = ConnectionId.resolve(VerbsPair.at(listener), TIMEOUT_MS);
                QueuePair requester = client.createQueuePair(domain, QueuePairAttributes.create(sends))) {
                reject(listener, domain);
                client.connect(ConnectionParameters.create().privateData(registered.remote().toBytes()));
                try (ConnectionId server = listener.nextRequest(TIMEOUT_MS).orElseThrow();
                    QueuePair responder =
                        server.createQueuePair(domain, QueuePairAttributes.create(receives).sharedReceiveQueue(shared))) {
                    server.accept(ConnectionParameters.create().privateData(memory.remote().toBytes()));
                    final byte[] accepted = VerbsPair.await(client, ConnectionEventType.ESTABLISHED).privateData();
                    VerbsPair.await(server, ConnectionEventType.ESTABLISHED);
                    use(requester, shared, registered, RemoteMemory.of(accepted, 0), channel);
                    client.disconnect();
                    VerbsPair.await(server, ConnectionEventType.DISCONNECTED);
                    server.disconnect();
                    VerbsPair.await(client, ConnectionEventType.DISCONNECTED);
                }
            }
        }

        @SuppressWarnings("try") // a request needs a queue pair
        private void reject(final Listener listener, final ProtectionDomain domain) {
            try (ConnectionId client = ConnectionId.resolve(VerbsPair.at(listener), TIMEOUT_MS);
                VerbsCompletionQueue queue = VerbsCompletionQueue.create(context, "rejected", DEPTH, null);
                QueuePair unused = client.createQueuePair(domain, QueuePairAttributes.create(queue))) {
                client.connect(ConnectionParameters.create());
                try (ConnectionId request = listener.nextRequest(TIMEOUT_MS).orElseThrow()) {
                    request.reject(REASON);
                }
                VerbsPair.await(client, ConnectionEventType.REJECTED);
            }
        }

        /** A list of a write and a send, a single write, and an event of each queue. */
        private void use(final QueuePair requester, final SharedReceiveQueue shared, final MemoryRegion memory,
            final RemoteMemory remote, final CompletionChannel channel) {
            final VerbsCompletionQueue sends = requester.sendQueue();
            try (ReceiveList receive = ReceiveList.allocate(1, 1); SendList list = SendList.allocate(2, 1)) {
                receive.elements(0, memory);
                receive.element(0, 0, 0, LENGTH);
                assertEquals(1, shared.postReceive(receive));
                list.write(0, remote);
                list.send(1, SendFlag.SIGNALED);
                for (int i = 0; i < 2; i++) {
                    list.elements(i, memory);
                    list.element(i, 0, LENGTH, LENGTH);
                }
                sends.requestNotification(false);
                assertEquals(2, requester.postSend(list));
                assertEquals(sends, channel.await(TIMEOUT_MS));
                assertTrue(completions.awaitOne(sends).isSuccess());
                assertTrue(requester.write(remote, 0, memory, LENGTH, LENGTH, true, 1));
                assertTrue(completions.awaitOne(sends).isSuccess());
            }
        }
    }
}
