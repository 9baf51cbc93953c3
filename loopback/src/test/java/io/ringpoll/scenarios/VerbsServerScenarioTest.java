package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.os.DescriptorPoll;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.PersistentFile;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.VerbsPair;
import io.ringpoll.verbs.AccessFlag;
import io.ringpoll.verbs.ConnectionEvent;
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
import io.ringpoll.verbs.SharedReceiveQueue;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Examples 06scch, 09, 09scch, 08srq and 13 of librpma over verbs: many clients on one completion channel, persistence by a
 * request to the server's CPU, and messages of several connections that consume the receives of one shared queue.
 */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class VerbsServerScenarioTest {
    private static final int TIMEOUT_MS = VerbsPair.TIMEOUT_MS;
    private static final int DEPTH = 8;
    private static final int CLIENTS = 4;
    private static final int ROUNDS = 25;
    private static final int LENGTH = Long.BYTES;
    private static final String TEXT = "Hello server!";
    private static final int FILE_BYTES = 1024;
    private static final long DONE = -1;
    private static final int NAME_BYTES = 32;

    private final VerbsContext context = RdmaDevices.ofLocal(VerbsPair.address());

    /** One side's objects for a connection. */
    private record End(ConnectionId id, VerbsCompletionQueue sends, VerbsCompletionQueue receives, QueuePair queuePair)
        implements AutoCloseable {
        static End of(final ConnectionId id, final ProtectionDomain domain, final CompletionChannel ofSends,
            final CompletionChannel ofReceives) {
            final VerbsCompletionQueue sends = VerbsCompletionQueue.create(id.context(), "sends", DEPTH, ofSends);
            final VerbsCompletionQueue receives = VerbsCompletionQueue.create(id.context(), "receives", DEPTH, ofReceives);
            return new End(id, sends, receives, id.createQueuePair(domain, QueuePairAttributes.create(sends, receives)));
        }

        ConnectionEvent connect() {
            id.connect(ConnectionParameters.create());
            return VerbsPair.await(id, ConnectionEventType.ESTABLISHED);
        }

        void accept(final byte... privateData) {
            id.accept(ConnectionParameters.create().privateData(privateData));
            VerbsPair.await(id, ConnectionEventType.ESTABLISHED);
        }

        void disconnect() {
            id.disconnect();
            VerbsPair.await(id, ConnectionEventType.DISCONNECTED);
        }

        void awaitDisconnect() {
            VerbsPair.await(id, ConnectionEventType.DISCONNECTED);
            id.disconnect();
        }

        @Override
        public void close() {
            queuePair.close();
            sends.close();
            receives.close();
            id.close();
        }
    }

    private static WorkCompletion success(final Completions completions, final VerbsCompletionQueue queue, final int opcode) {
        final WorkCompletion completion = completions.awaitOne(queue);
        assertTrue(completion.isSuccess(), completion::toString);
        assertEquals(WcOpcode.name(opcode), WcOpcode.name(completion.opcode()));
        return completion;
    }

    private static long number(final MemoryRegion region, final long offset) {
        return region.memory().get(ValueLayout.JAVA_LONG, offset);
    }

    private static void number(final MemoryRegion region, final long offset, final long value) {
        region.memory().set(ValueLayout.JAVA_LONG, offset, value);
    }

    @ParameterizedTest(name = "shared channel: {0}")
    @ValueSource(booleans = {false, true})
    void shouldPersistOnRequest(final boolean sharedChannel) {
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1)) {
            final OtherThread<Void> server = OtherThread.run(() -> {
                persist(listener, sharedChannel);
                return null;
            });
            requestPersistence(listener);
            server.result();
        }
    }

    private void persist(final Listener listener, final boolean sharedChannel) throws Exception {
        final Completions completions = new Completions();
        try (PersistentFile file = new PersistentFile(FILE_BYTES); ProtectionDomain domain = ProtectionDomain.create(context);
            MemoryRegion memory = domain.register(file.memory(), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            MemoryRegion message = domain.allocate(LENGTH, AccessFlag.LOCAL_WRITE);
            CompletionChannel channel = CompletionChannel.create(context);
            CompletionChannel ofSends = CompletionChannel.create(context);
            End end = End.of(
                listener.nextRequest(TIMEOUT_MS).orElseThrow(), domain, sharedChannel ? channel : ofSends, channel)) {
            assertTrue(end.queuePair().receive(message, 0, LENGTH, 1));
            end.sends().requestNotification(false);
            end.receives().requestNotification(false);
            end.accept(memory.remote().toBytes());
            assertEquals(end.receives(), channel.await(TIMEOUT_MS));
            success(completions, end.receives(), WcOpcode.RECV);
            assertEquals(FILE_BYTES, number(message, 0));
            file.persist();
            number(message, 0, DONE);
            assertTrue(end.queuePair().send(message, 0, LENGTH, true, 2));
            assertEquals(end.sends(), (sharedChannel ? channel : ofSends).await(TIMEOUT_MS));
            success(completions, end.sends(), WcOpcode.SEND);
            end.awaitDisconnect();
            assertEquals(TEXT, file.textInFile());
        }
    }

    private void requestPersistence(final Listener listener) {
        final Completions completions = new Completions();
        try (ProtectionDomain domain = ProtectionDomain.create(context); MemoryRegion source = domain.allocate(FILE_BYTES);
            MemoryRegion message = domain.allocate(LENGTH); MemoryRegion answer = domain.allocate(LENGTH, AccessFlag.LOCAL_WRITE);
            End end = End.of(ConnectionId.resolve(VerbsPair.at(listener), TIMEOUT_MS), domain, null, null)) {
            final RemoteMemory file = RemoteMemory.of(end.connect().privateData(), 0);
            source.memory().setString(0, TEXT, StandardCharsets.UTF_8);
            number(message, 0, FILE_BYTES);
            assertTrue(end.queuePair().receive(answer, 0, LENGTH, 1));
            assertTrue(end.queuePair().write(file, 0, source, 0, FILE_BYTES, false, 2));
            // Messages stay behind writes: when the request arrives the data has.
            assertTrue(end.queuePair().send(message, 0, LENGTH, false, 3));
            success(completions, end.receives(), WcOpcode.RECV);
            assertEquals(DONE, number(answer, 0));
            end.disconnect();
        }
    }

    @Test
    void shouldAnswerTheMessagesOfSeveralConnectionsFromASharedReceiveQueue() {
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), CLIENTS)) {
            final List<OtherThread<Void>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                final long first = i * 1_000_000L;
                clients.add(OtherThread.run(() -> {
                    ask(listener, first);
                    return null;
                }));
            }
            answer(listener);
            clients.forEach(OtherThread::result);
        }
    }

    private void answer(final Listener listener) {
        final Completions completions = new Completions();
        final Completions sends = new Completions();
        final Map<Integer, End> ends = new HashMap<>();
        try (ProtectionDomain domain = ProtectionDomain.create(context);
            MemoryRegion received = domain.allocate(CLIENTS * LENGTH, AccessFlag.LOCAL_WRITE);
            MemoryRegion answers = domain.allocate(CLIENTS * LENGTH);
            SharedReceiveQueue shared = SharedReceiveQueue.create(domain, CLIENTS, 1);
            VerbsCompletionQueue receives = VerbsCompletionQueue.create(context, "shared", 2 * CLIENTS, null);
            ReceiveList list = ReceiveList.allocate(CLIENTS, 1)) {
            for (int i = 0; i < CLIENTS; i++) {
                list.elements(i, received);
                list.element(i, 0, i * LENGTH, LENGTH);
                list.workRequestId(i, i);
            }
            assertEquals(CLIENTS, shared.postReceive(list));
            for (int i = 0; i < CLIENTS; i++) {
                final End end = served(listener, domain, receives, shared);
                ends.put(end.queuePair().number(), end);
            }
            for (int i = 0; i < CLIENTS * ROUNDS; i++) {
                final WorkCompletion message = success(completions, receives, WcOpcode.RECV);
                final int place = (int) message.workRequestId();
                final End sender = ends.get(message.queuePairNumber());
                assertNotNull(sender, "a message of an unknown connection");
                number(answers, place * LENGTH, number(received, place * LENGTH) + 1);
                assertEquals(1, shared.postReceive(list, place, 1));
                assertTrue(sender.queuePair().send(answers, place * LENGTH, LENGTH, true, 1));
                success(sends, sender.sends(), WcOpcode.SEND);
            }
            ends.values().forEach(End::awaitDisconnect);
            // The queue pairs, before the queues that they share.
            ends.values().forEach(End::close);
        }
    }

    private static End served(final Listener listener, final ProtectionDomain domain, final VerbsCompletionQueue receives,
        final SharedReceiveQueue shared) {
        final ConnectionId id = listener.nextRequest(TIMEOUT_MS).orElseThrow();
        final VerbsCompletionQueue sends = VerbsCompletionQueue.create(id.context(), "answers", DEPTH, null);
        final QueuePair queuePair =
            id.createQueuePair(domain, QueuePairAttributes.create(sends, receives).sharedReceiveQueue(shared));
        // It owns no receive queue.
        final End end = new End(id, sends, sends, queuePair);
        end.accept();
        return end;
    }

    private void ask(final Listener listener, final long first) {
        final Completions completions = new Completions();
        try (ProtectionDomain domain = ProtectionDomain.create(context); MemoryRegion message = domain.allocate(LENGTH);
            MemoryRegion answer = domain.allocate(LENGTH, AccessFlag.LOCAL_WRITE);
            End end = End.of(ConnectionId.resolve(VerbsPair.at(listener), TIMEOUT_MS), domain, null, null)) {
            end.connect();
            for (int i = 0; i < ROUNDS; i++) {
                assertTrue(end.queuePair().receive(answer, 0, LENGTH, 1));
                number(message, 0, first + i);
                assertTrue(end.queuePair().send(message, 0, LENGTH, true, 2));
                success(completions, end.sends(), WcOpcode.SEND);
                success(completions, end.receives(), WcOpcode.RECV);
                assertEquals(first + i + 1, number(answer, 0));
            }
            end.disconnect();
        }
    }

    @Test
    void shouldServeManyClientsOnOneThreadWithOneChannel() {
        final Set<String> expected = new TreeSet<>();
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), CLIENTS)) {
            final List<OtherThread<Void>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                final String name = "client " + i;
                expected.add(name);
                clients.add(OtherThread.run(() -> {
                    offer(listener, name);
                    return null;
                }));
            }
            assertEquals(expected, readNames(listener));
            clients.forEach(OtherThread::result);
        }
    }

    private void offer(final Listener listener, final String name) {
        try (ProtectionDomain domain = ProtectionDomain.create(context);
            MemoryRegion memory = domain.allocate(NAME_BYTES, AccessFlag.REMOTE_READ);
            End end = End.of(ConnectionId.resolve(VerbsPair.at(listener), TIMEOUT_MS), domain, null, null)) {
            memory.memory().setString(0, name, StandardCharsets.UTF_8);
            end.id().connect(ConnectionParameters.create().privateData(memory.remote().toBytes()));
            VerbsPair.await(end.id(), ConnectionEventType.ESTABLISHED);
            end.awaitDisconnect();
        }
    }

    /** Waits on the descriptors of the listener, of all ids and of the channel, and reads the name of each client. */
    private Set<String> readNames(final Listener listener) {
        final Set<String> names = new TreeSet<>();
        final Completions completions = new Completions();
        final Map<VerbsCompletionQueue, End> ends = new HashMap<>();
        final AtomicInteger ended = new AtomicInteger();
        try (ProtectionDomain domain = ProtectionDomain.create(context);
            MemoryRegion memory = domain.allocate(CLIENTS * NAME_BYTES, AccessFlag.LOCAL_WRITE);
            CompletionChannel channel = CompletionChannel.create(context); DescriptorPoll poll = new DescriptorPoll()) {
            poll.add(listener.eventFd(), () -> listener.nextRequest(0).ifPresent(id -> {
                final End end = End.of(id, domain, channel, channel);
                final int place = ends.size();
                ends.put(end.sends(), end);
                end.sends().requestNotification(false);
                poll.add(id.eventFd(), () -> id.nextEvent(0).ifPresent(event -> {
                    if (event.type() == ConnectionEventType.ESTABLISHED) {
                        assertTrue(end.queuePair().read(
                            memory, place * NAME_BYTES, RemoteMemory.of(id.privateData(), 0), 0, NAME_BYTES, true, place));
                    } else {
                        assertEquals(ConnectionEventType.DISCONNECTED, event.type());
                        poll.remove(id.eventFd());
                        end.close();
                        ended.incrementAndGet();
                    }
                }));
                id.accept(ConnectionParameters.create());
            }));
            poll.add(channel.fd(), () -> {
                final VerbsCompletionQueue queue = channel.await(0);
                if (queue != null) {
                    final long place = success(completions, queue, WcOpcode.RDMA_READ).workRequestId();
                    names.add(memory.memory().getString(place * NAME_BYTES, StandardCharsets.UTF_8));
                    ends.get(queue).id().disconnect();
                }
            });
            while (ended.get() < CLIENTS) {
                assertTrue(poll.await(TIMEOUT_MS) > 0, "nothing happens any more");
            }
        }
        return names;
    }
}
