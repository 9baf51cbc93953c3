package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.pipeline.PolledQueue;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcUsage;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.poller.NotifyingQueue;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
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
import io.ringpoll.verbs.SendFlag;
import io.ringpoll.verbs.SendList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pipeline polls the completion queues of a queue pair without librpma: chains, receives, errors, and the budget. */
@Tag(TestDevice.TAG)
@Timeout(60)
class VerbsPipelineTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int CHAIN = 16;
    private static final int CHAINS = 500;

    @Test
    void shouldDeliverTheCompletionsOfChainsAndReleaseTheBudget() throws InterruptedException, TimeoutException {
        final AtomicInteger sent = new AtomicInteger();
        final AtomicInteger received = new AtomicInteger();
        final CountDownLatch flushed = new CountDownLatch(1);
        try (VerbsPair pair = VerbsPair.ofDefaults();
            Pipeline pipeline = Pipeline.builder()
                .onSendWrite((wc, sequence, endOfBatch) -> sent.incrementAndGet())
                .onReceive((wc, sequence, endOfBatch) -> received.incrementAndGet())
                .onError((wc, sequence, endOfBatch) -> {
                    assertEquals(WcStatus.WR_FLUSH_ERR, wc.status());
                    flushed.countDown();
                })
                .start()) {
            final MemoryRegion memory = pair.memory(4096, VerbsPair.ALL);
            final ReceiveList receives = pair.receives(CHAIN, memory, 0);
            final SendList chain = pair.closed(SendList.allocate(CHAIN, 1));
            for (int i = 0; i < CHAIN; i++) {
                chain.writeWithImmediate(i, memory.remote());
                chain.elements(i, memory);
                chain.element(i, 0, 0, 8);
                chain.remoteOffset(i, 64);
            }
            chain.signaled(CHAIN - 1, true);
            pipeline.addQueue(pair.client().sendQueue());
            pipeline.addQueue(pair.server().receiveQueue());
            for (int i = 0; i < CHAINS; i++) {
                for (int posted = 0; posted < CHAIN;) {
                    posted += pair.server().postReceive(receives, posted, CHAIN - posted);
                }
                for (int posted = 0; posted < CHAIN;) {
                    posted += pair.client().postSend(chain, posted, CHAIN - posted);
                    Thread.onSpinWait();
                }
            }
            while (sent.get() < CHAINS || received.get() < CHAIN * CHAINS) {
                Thread.onSpinWait();
            }
            assertEquals(CHAINS, sent.get());
            assertEquals(0, pair.client().sendQueue().budget().inFlight());
            assertEquals(1, pair.server().postReceive(receives, 0, 1));
            pair.serverId().disconnect();
            assertTrue(flushed.await(VerbsPair.TIMEOUT_MS, TimeUnit.MILLISECONDS));
            pipeline.removeQueue(pair.client().sendQueue());
            pipeline.removeQueue(pair.server().receiveQueue());
        }
    }

    /** A server creates its queues and its poller first. */
    @Test
    void shouldReleaseTheBudgetOfEachQueuePairThatIsCreatedWhileItsQueueIsPolled() throws TimeoutException {
        final VerbsContext context = RdmaDevices.ofLocal(VerbsPair.address());
        try (VerbsCompletionQueue sends = VerbsCompletionQueue.create(context, "sends", 64, null);
            VerbsCompletionQueue receives = VerbsCompletionQueue.create(context, "receives", 64, null);
            ProtectionDomain domain = ProtectionDomain.create(context);
            SendList chain = SendList.allocate(CHAIN, 0);
            MemoryRegion memory = domain.allocate(64, VerbsPair.ALL);
            Pipeline pipeline = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> { }).start()) {
            for (int i = 0; i < CHAIN; i++) {
                chain.write(i, memory.remote(), SendFlag.SIGNALED);
            }
            pipeline.addQueue(sends);
            for (int connection = 0; connection < 3; connection++) {
                postMoreThanTheDepth(sends, receives, domain, chain);
            }
            pipeline.removeQueue(sends);
        }
    }

    /** Each queue with a channel of its own does; the receive queue without one is polled each millisecond. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldWakeAPollerForBothQueuesOfAConnection(final boolean sharedChannel) throws Exception {
        final int rounds = 50;
        final AtomicInteger handled = new AtomicInteger();
        final RcConfig config = RcConfig.of(8, 8, 9).withReceiveQueue(9).withSharedChannel(sharedChannel);
        final String address = TestDevice.address();
        try (RcPeer peer = RdmaApi.VERBS.ofLocal(address); RcListener listener = peer.listen(address, 0);
            RcMemory memory = peer.allocate(64, RcUsage.SEND, RcUsage.RECEIVE);
            RcConnection client = peer.request(address, listener.port(), config).connect();
            RcConnection server = listener.nextRequest(config, VerbsPair.TIMEOUT_MS).orElseThrow().connect();
            Pipeline pipeline = Pipeline.builder().idleStrategy(new EventDrivenIdle(0, TimeUnit.MINUTES.toNanos(10)))
                .onAll((completion, sequence, endOfBatch) -> {
                    assertTrue(completion.isSuccess());
                    handled.incrementAndGet();
                }).start()) {
            client.awaitEstablished(VerbsPair.TIMEOUT_MS);
            server.awaitEstablished(VerbsPair.TIMEOUT_MS);
            final List<CompletionQueue> queues = Stream.of(client, server).flatMap(connection ->
                Stream.concat(Stream.of(PolledQueue.of(connection)), PolledQueue.ofReceives(connection).stream())).toList();
            assertEquals(4, queues.size());
            for (final CompletionQueue queue : queues) {
                pipeline.addQueue(queue);
            }
            for (int i = 0; i < rounds; i++) {
                assertTrue(server.receive(memory, 0, 64, i));
                Thread.sleep(i % 3);
                assertTrue(client.send(memory, 0, 8, true, i));
                await(handled, 2 * (i + 1));
            }
            final long sleeps = pipeline.pollerCounters().sleeps();
            final long deadlineNs = System.nanoTime() + BOUND_NS;
            while (sharedChannel && pipeline.pollerCounters().sleeps() < sleeps + 10) {
                assertTrue(System.nanoTime() < deadlineNs, "no sleep each millisecond");
                Thread.sleep(1);
            }
            if (!sharedChannel) {
                Thread.sleep(300);
                // Of the last events.
                assertTrue(pipeline.pollerCounters().sleeps() <= sleeps + 3, "a sleep each millisecond");
            }
            for (final CompletionQueue queue : queues) {
                pipeline.removeQueue(queue);
            }
        }
    }

    /** The descriptors of the closed channels are those of the next connection, whose queues have no part in the fault. */
    @Test
    void shouldPollTheNextConnectionAfterTheCloseOfAPolledOne() throws Exception {
        final int connections = 10;
        final AtomicInteger handled = new AtomicInteger();
        final AtomicInteger faults = new AtomicInteger();
        final Set<Integer> healthy = ConcurrentHashMap.newKeySet();
        final AtomicInteger wrong = new AtomicInteger();
        final CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
                handled.addAndGet(completion.isSuccess() ? 1 : 0);
            }

            @Override
            public void onQueueFault(final int queueIndex, final String queueName, final int code) {
                faults.incrementAndGet();
                wrong.addAndGet(healthy.contains(queueIndex) ? 1 : 0);
            }
        };
        final RcConfig config = RcConfig.of(8, 8, 9).withReceiveQueue(9);
        final String address = TestDevice.address();
        try (RcPeer peer = RdmaApi.VERBS.ofLocal(address); RcListener listener = peer.listen(address, 0);
            RcMemory memory = peer.allocate(64, RcUsage.SEND, RcUsage.RECEIVE);
            Pipeline pipeline = Pipeline.builder().idleStrategy(new EventDrivenIdle(0, TimeUnit.MINUTES.toNanos(10)))
                .onAll(handler).start()) {
            for (int i = 1; i <= connections; i++) {
                try (RcConnection client = peer.request(address, listener.port(), config).connect();
                    RcConnection server = listener.nextRequest(config, VerbsPair.TIMEOUT_MS).orElseThrow().connect()) {
                    client.awaitEstablished(VerbsPair.TIMEOUT_MS);
                    server.awaitEstablished(VerbsPair.TIMEOUT_MS);
                    for (final RcConnection connection : List.of(client, server)) {
                        healthy.add(pipeline.addQueue(PolledQueue.of(connection)));
                        healthy.add(pipeline.addQueue(PolledQueue.ofReceives(connection).orElseThrow()));
                    }
                    assertTrue(server.receive(memory, 0, 64, i));
                    Thread.sleep(2);
                    assertTrue(client.send(memory, 0, 8, true, i));
                    await(handled, 2 * i);
                    healthy.clear();
                }
            }
            assertTrue(pipeline.pause(BOUND_NS));
            assertTrue(pipeline.resume(BOUND_NS));
            await(faults, 4 * connections);
        }
        assertEquals(0, wrong.get());
    }

    private static void await(final AtomicInteger handled, final int count) throws InterruptedException {
        final long deadlineNs = System.nanoTime() + BOUND_NS;
        while (handled.get() < count) {
            assertTrue(System.nanoTime() < deadlineNs, () -> "only " + handled + " of " + count + " in time");
            Thread.sleep(1);
        }
    }

    /** The close of a queue of librpma is refused meanwhile. */
    @Test
    void shouldReportTheCloseOfAPolledQueueAsItsFault() throws Exception {
        final CompletableFuture<String> fault = new CompletableFuture<>();
        final CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
                fault.complete("a completion: " + wc);
            }

            @Override
            public void onQueueFault(final int queueIndex, final String queueName, final int code) {
                fault.complete(queueName + " has failed");
            }
        };
        final VerbsContext context = RdmaDevices.ofLocal(VerbsPair.address());
        try (CompletionChannel channel = CompletionChannel.create(context);
            VerbsCompletionQueue queue = VerbsCompletionQueue.create(context, "closed too early", 64, channel);
            Pipeline pipeline = Pipeline.builder().idleStrategy(new EventDrivenIdle(0, TimeUnit.MINUTES.toNanos(10)))
                .onAll(handler).start()) {
            pipeline.addQueue(NotifyingQueue.of(queue, channel));
            while (pipeline.pollerCounters().sleeps() == 0) {
                Thread.sleep(1);
            }
            queue.close();
            // Nothing else wakes the poller.
            assertTrue(pipeline.pause(BOUND_NS));
            assertTrue(pipeline.resume(BOUND_NS));
            assertEquals("closed too early has failed", fault.get(VerbsPair.TIMEOUT_MS, TimeUnit.MILLISECONDS));
        }
    }

    /** A poll of it would be a fault, or its channel has the descriptor of another one. */
    @Test
    void shouldRefuseAClosedQueue() throws Exception {
        final AtomicInteger faults = new AtomicInteger();
        final CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
                faults.incrementAndGet();
            }

            @Override
            public void onQueueFault(final int queueIndex, final String queueName, final int code) {
                faults.incrementAndGet();
            }
        };
        final VerbsContext context = RdmaDevices.ofLocal(VerbsPair.address());
        try (CompletionChannel channel = CompletionChannel.create(context)) {
            final VerbsCompletionQueue queue = VerbsCompletionQueue.create(context, "closed before", 64, channel);
            queue.close();
            final CompletionQueue ofLibrpma;
            try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
                ofLibrpma = pair.client().completionQueue();
            }
            for (final IdleStrategy idle : List.of(new YieldingIdleStrategy(), new EventDrivenIdle())) {
                try (Pipeline pipeline = Pipeline.builder().idleStrategy(idle).onAll(handler).start()) {
                    for (final CompletionQueue closed : List.of(queue, NotifyingQueue.of(queue, channel), ofLibrpma)) {
                        assertEquals(closed.name() + " cannot be added: it is closed",
                            assertThrows(IllegalStateException.class, () -> pipeline.addQueue(closed)).getMessage());
                    }
                    assertTrue(pipeline.drain(BOUND_NS).inTime());
                }
            }
        }
        assertEquals(0, faults.get());
    }

    private static void postMoreThanTheDepth(final VerbsCompletionQueue sends, final VerbsCompletionQueue receives,
        final ProtectionDomain domain, final SendList chain) {
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1);
            ConnectionId client = ConnectionId.resolve(VerbsPair.at(listener), VerbsPair.TIMEOUT_MS);
            QueuePair queuePair = client.createQueuePair(domain, QueuePairAttributes.create(sends))) {
            client.connect(ConnectionParameters.create());
            try (ConnectionId server = listener.nextRequest(VerbsPair.TIMEOUT_MS).orElseThrow();
                QueuePair other = server.createQueuePair(domain, QueuePairAttributes.create(receives))) {
                server.accept(ConnectionParameters.create());
                VerbsPair.await(client, ConnectionEventType.ESTABLISHED);
                VerbsPair.await(server, ConnectionEventType.ESTABLISHED);
                final long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(VerbsPair.TIMEOUT_MS);
                for (int posted = 0; posted < 4 * sends.capacity();) {
                    posted += queuePair.postSend(chain);
                    assertTrue(System.nanoTime() < deadlineNs, posted + " requests were accepted, then none");
                    Thread.onSpinWait();
                }
                while (sends.budget().inFlight() > 0) {
                    assertTrue(System.nanoTime() < deadlineNs, () -> sends.budget().inFlight() + " requests stay counted");
                    Thread.onSpinWait();
                }
            }
        }
    }
}
