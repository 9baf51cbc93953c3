package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.QueuePairAttachments;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.SharedReceiveQueue;
import io.ringpoll.rpma.SharedReceiveQueueConfig;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A completion finds the attachment of its queue, before and after the removal of the queue. */
@Timeout(60)
class AttachmentTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

    private final List<Object> attached = new CopyOnWriteArrayList<>();
    private final CompletionHandler recorder = (wc, sequence, endOfBatch) -> attached.add(wc.attachment());

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHaveTheAttachmentBeforeTheFirstCompletion(final boolean inPlace) {
        final PipelineBuilder description = Pipeline.builder().queue(queueOf(1), "described").queue(queueOf(1)).onAll(recorder);
        try (Pipeline pipeline = inPlace ? description.runToCompletion().start() : description.start()) {
            for (int i = 0; i < 100; i++) {
                pipeline.addQueue(queueOf(1), i);
            }
            assertTrue(pipeline.drain(BOUND_NS).inTime());
        }
        assertEquals(102, attached.size());
        assertTrue(attached.contains("described"));
        for (int i = 0; i < 100; i++) {
            assertTrue(attached.contains(i), "completion of queue " + i);
        }
    }

    @Test
    void shouldGiveTheAttachmentToThePipelinesOfAGroup() {
        try (PipelineGroup group = PipelineGroup.start(2, i -> Pipeline.builder().name("p" + i).onAll(recorder))) {
            group.addQueue(queueOf(1), "any");
            assertSame(group.pipelines().get(0), group.addQueue(queueOf(1), "chosen", queue -> 0));
            group.addQueue(queueOf(1), queue -> 1);
            assertTrue(group.drain(BOUND_NS).stream().allMatch(PipelineReport::inTime));
        }
        assertEquals(3, attached.size());
        assertTrue(attached.containsAll(List.of("any", "chosen")));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGiveTheAttachmentWithTheFaultOfTheQueue(final boolean inPlace) {
        final List<String> faults = new CopyOnWriteArrayList<>();
        final CompletionHandler withAttachment = new CompletionHandler() {
            @Override
            public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            }

            @Override
            public void onQueueFault(final int queueIndex, final String queueName, final int code, final Object attachment) {
                faults.add(queueName + " " + code + " " + attachment);
            }
        };
        final CompletionHandler without = new CompletionHandler() {
            @Override
            public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            }

            @Override
            public void onQueueFault(final int queueIndex, final String queueName, final int code) {
                faults.add(queueName + " " + code);
            }
        };
        final ScriptedQueue failing = queueOf(1);
        failing.failWith(-5);
        final QueuePairAttachments shared = new QueuePairAttachments();
        final ScriptedQueue failingShared = new ScriptedQueue("shared");
        failingShared.failWith(-6);
        final PipelineBuilder description =
            Pipeline.builder().onAll(withAttachment).onAll(without, options -> options.name("without"));
        try (Pipeline pipeline = inPlace ? description.runToCompletion().start() : description.start()) {
            pipeline.addQueue(failing, "attached");
            pipeline.addQueue(failingShared, shared);
            while (faults.size() < 4) {
                Thread.onSpinWait();
            }
        }
        assertEquals(4, faults.size());
        assertTrue(
            faults.containsAll(List.of("queue -5 attached", "queue -5", "shared -6 " + shared, "shared -6")), faults::toString);
    }

    @Test
    void shouldKeepTheAttachmentOfARemovedQueueUntilItsCompletionsAreHandled() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch leave = new CountDownLatch(1);
        final ScriptedQueue queue = queueOf(8);
        final AtomicReference<WeakReference<Object>> removed = new AtomicReference<>();
        final AtomicReference<String> wrong = new AtomicReference<>();
        try (Pipeline pipeline = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> {
            entered.countDown();
            leave.await();
            if (wc.attachment() == null || wc.attachment() != removed.get().get()) {
                wrong.set("completion " + sequence + " has " + wc.attachment());
            }
        }).start()) {
            removed.set(addWithAttachment(pipeline, queue));
            entered.await();
            while (queue.size() > 0) {
                Thread.onSpinWait();
            }
            pipeline.removeQueue(queue);
            System.gc();
            assertFalse(removed.get().refersTo(null), "released before its completions were handled");
            leave.countDown();
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertNull(wrong.get());
            while (!removed.get().refersTo(null)) {
                System.gc();
                Thread.sleep(1);
            }
        }
    }

    /** Adds a queue with an attachment that only the pipeline holds from then on. */
    private static WeakReference<Object> addWithAttachment(final Pipeline pipeline, final ScriptedQueue queue) throws Exception {
        final Object attachment = new Object();
        pipeline.addQueue(queue, attachment);
        return new WeakReference<>(attachment);
    }

    @Test
    void shouldNotReuseTheIndexOfCompletionsInTheRing() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch leave = new CountDownLatch(1);
        final ScriptedQueue queue = queueOf(8);
        try (Pipeline pipeline = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> {
            entered.countDown();
            leave.await();
            attached.add(wc.attachment());
        }).start()) {
            pipeline.addQueue(queue, "removed");
            entered.await();
            while (queue.size() > 0) {
                Thread.onSpinWait();
            }
            // On the polling thread, where additions and removals need no wait.
            assertTrue(pipeline.execute(() -> {
                try {
                    pipeline.removeQueue(queue);
                    for (int i = 0; i < (1 << 16) - 1; i++) {
                        addAndRemove(pipeline, i);
                    }
                } catch (final TimeoutException late) {
                    throw new AssertionError(late);
                } finally {
                    leave.countDown();
                }
            }));
            leave.await();
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(List.of(), errors(pipeline));
        }
        assertEquals(Collections.nCopies(8, "removed"), attached);
    }

    @Test
    void shouldKeepTheAttachmentForTheRestOfABatchWhenAHandlerRemovesTheQueue() {
        final ScriptedQueue queue = queueOf(8);
        final AtomicReference<Pipeline> self = new AtomicReference<>();
        final PipelineBuilder description = Pipeline.builder().runToCompletion().onAll((wc, sequence, endOfBatch) -> {
            if (sequence == 0) {
                self.get().removeQueue(queue);
                // Each index is used once: only that of the removed queue would be left.
                for (int i = 0; i < (1 << 16) - 1; i++) {
                    addAndRemove(self.get(), i);
                }
                assertEquals(0, wc.queueIndex());
            }
            attached.add(wc.attachment());
        });
        try (Pipeline pipeline = description.start()) {
            self.set(pipeline);
            assertEquals(0, pipeline.addQueue(queue, "removed"));
            while (attached.size() < 8) {
                Thread.onSpinWait();
            }
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(List.of(), errors(pipeline));
        }
        assertEquals(Collections.nCopies(8, "removed"), attached);
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldLeadFromACompletionToItsConnection() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults();
            Pipeline pipeline =
                Pipeline.builder().onAll(recorder).queue(pair.client().completionQueue(), pair.client()).start()) {
            final LocalMemoryRegion message = pair.memory(64);
            pipeline.addQueue(pair.server().completionQueue(), pair.server());
            assertTrue(pair.server().receive(message, 0, 32, 1));
            assertTrue(pair.client().send(message, 32, 32, CompletionFlag.ALWAYS, 2));
            while (attached.size() < 2) {
                Thread.onSpinWait();
            }
            assertTrue(attached.containsAll(List.of(pair.client(), pair.server())));
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldLeadFromAMessageOfASharedReceiveQueueToItsConnection() {
        final int messages = 6;
        final List<Object> ids = new CopyOnWriteArrayList<>();
        final QueuePairAttachments connections = new QueuePairAttachments();
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion memory = peer.allocate(8, MemoryUsage.SEND, MemoryUsage.RECEIVE);
            SharedReceiveQueueConfig sharing = SharedReceiveQueueConfig.create().rqSize(messages).rcqSize(messages);
            SharedReceiveQueue shared = peer.sharedReceiveQueue(sharing);
            ConnectionConfig config = ConnectionConfig.create().sharedReceiveQueue(shared);
            Pipeline pipeline = Pipeline.builder().onReceive((wc, sequence, endOfBatch) -> {
                ids.add(wc.attachment());
                ids.add(wc.immediate());
            }).onSendWrite((wc, sequence, endOfBatch) -> { }).onError((wc, sequence, endOfBatch) -> { }).start()) {
            final String port = ConnectedPair.anyPort();
            final List<Connection> clients = new ArrayList<>();
            final List<Connection> servers = new ArrayList<>();
            try (Endpoint endpoint = peer.listen(TestDevice.address(), port)) {
                for (int i = 0; i < 3; i++) {
                    final Connection client = peer.request(TestDevice.address(), port).connect();
                    clients.add(client);
                    final Connection server =
                        endpoint.nextRequest(config, ConnectedPair.TIMEOUT_MS).orElseThrow().connect();
                    servers.add(server);
                    client.nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow();
                    server.nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow();
                    connections.put(server.queuePairNumber(), "connection " + i);
                }
            }
            connections.remove(servers.get(2).queuePairNumber());
            for (int i = 0; i < messages; i++) {
                assertTrue(shared.receive(memory, 0, 8, i));
            }
            pipeline.addQueue(shared.receiveCompletionQueue().orElseThrow(), connections);
            for (int i = 0; i < messages; i++) {
                assertTrue(clients.get(i % 3).sendWithImmediate(memory, 0, 8, CompletionFlag.ON_ERROR, i % 3, i));
            }
            while (ids.size() < 2 * messages) {
                Thread.onSpinWait();
            }
            for (int i = 0; i < messages; i++) {
                final int connection = (int) ids.get(2 * i + 1);
                assertEquals(connection == 2 ? null : "connection " + connection, ids.get(2 * i));
            }
            pipeline.close(BOUND_NS);
            clients.forEach(Connection::close);
            servers.forEach(Connection::close);
        }
    }

    private static void addAndRemove(final Pipeline pipeline, final Object attachment) throws TimeoutException {
        final ScriptedQueue passing = new ScriptedQueue("passing");
        assertTrue(pipeline.addQueue(passing, attachment) != 0, "the index of completions in the ring was reused");
        pipeline.removeQueue(passing);
    }

    private static List<String> errors(final Pipeline pipeline) {
        final List<String> lines = new ArrayList<>();
        pipeline.readErrors(lines::add);
        return lines;
    }

    private static ScriptedQueue queueOf(final int completions) {
        final ScriptedQueue queue = new ScriptedQueue("queue");
        for (int i = 0; i < completions; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
        return queue;
    }
}
