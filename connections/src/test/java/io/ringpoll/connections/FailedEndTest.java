package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.fault.FaultInjection;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.CallFault;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.ProcessResources;
import io.ringpoll.testing.TestDevice;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls into the loopback device fail: the connection ends, and releases place and memory. */
@Timeout(60)
class FailedEndTest {
    private static final int NO_MEMORY = 12;
    private static final String PROTECTION_DOMAINS = "device object 1";

    private final Recorder server = new Recorder();
    private final Recorder client = new Recorder();

    @AfterEach
    void clear() {
        CallFault.plan(0, 0);
    }

    @Test
    void shouldReleaseAConnectionWhoseEndFails() throws Exception {
        try (SetPair pair = SetPair.of(builder -> builder.maxConnections(1), server, client)) {
            for (int n = 1; n <= 12; n++) {
                final MessageConnection connection = pair.connect();
                server.await("connected");
                CallFault.plan(n, NO_MEMORY);
                connection.close();
                server.await("disconnected");
                client.await("disconnected");
                CallFault.plan(0, 0);
                assertEquals(0, pair.client().connections());
            }
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
        }
    }

    /** The close continues on a thread of its own, up to the close of the device. */
    @Test
    void shouldContinueACloseWhoseReleaseOfMemoryFails() throws Exception {
        final Map<String, Long> before = ProcessResources.objects();
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            // Without its connection, of which both ends have registered memory of their own.
            pair.connect().close();
            client.await("disconnected");
            server.await("disconnected");
            try (FaultInjection ignored = FaultInjection.apply(FaultPlan.parse("call:ibv_dereg_mr:EINVAL@1"))) {
                assertThrows(RdmaException.class, () -> pair.client().close(SetPair.TEN_SECONDS));
                pair.client().awaitClose();
            }
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
        }
        assertEquals(before.get(PROTECTION_DOMAINS), ProcessResources.objectsBackTo(before).get(PROTECTION_DOMAINS));
    }

    /** As in a process that has its maximum of threads. */
    private static Thread noThread(final String name) {
        return new Thread(name) {
            @Override
            public void start() {
                throw new OutOfMemoryError("no thread " + getName());
            }
        };
    }

    @Test
    void shouldContinueACloseWhoseThreadCouldNotStartAtTheNextCall() throws Exception {
        final AtomicInteger closers = new AtomicInteger();
        final ConnectionSetBuilder description = SetPair.builder().listener(client);
        final Function<String, ThreadFactory> threads = description.threads;
        description.threads = name -> task -> name.endsWith("-closer") && closers.getAndIncrement() == 0 ?
            noThread(name) : threads.apply(name).newThread(task);
        final ConnectionSet set = description.start();
        assertTrue(assertThrows(OutOfMemoryError.class, () -> set.close(0)).getMessage().endsWith("-closer"));
        set.close(0);
        set.awaitClose();
        assertEquals(2, closers.get());
    }

    @Test
    void shouldReleaseEverythingIfTheThreadOfEventsCannotStart() throws Exception {
        final Map<String, Long> before = ProcessResources.objects();
        final long descriptors = ProcessResources.fileDescriptors();
        final List<Thread> polling = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 20; i++) {
            final ConnectionSetBuilder description = SetPair.builder().listener(server).pollers(2)
                .pipelines(index -> Pipeline.builder().name("failing-" + index).withoutCountersFile().threadFactory(task -> {
                    polling.add(new Thread(task));
                    return polling.getLast();
                }));
            description.threads = name -> task -> noThread(name);
            final String failure = assertThrows(OutOfMemoryError.class, description::start).getMessage();
            assertTrue(failure.startsWith("no thread set-") && failure.endsWith("-events"), failure);
        }
        assertEquals(40, polling.size());
        assertTrue(polling.stream().noneMatch(Thread::isAlive), "a polling thread is left");
        assertEquals(before.get(PROTECTION_DOMAINS), ProcessResources.objectsBackTo(before).get(PROTECTION_DOMAINS));
        assertTrue(ProcessResources.fileDescriptors() < descriptors + 20, "descriptors leaked");
    }

    /** The first exception has the reason of the failed start; the others are the consequence, or have nothing to do with it. */
    @Test
    void shouldReleaseEverythingAfterAFailedStartAlsoIfItCannotCloseItsQueues() {
        final Map<String, Long> before = ProcessResources.objects();
        final ConnectionSetBuilder description = SetPair.builder(SetKind.SHARED_QUEUE).pollers(3).listener(server)
            .pipelines(index -> {
                throw new IllegalStateException("no pipeline " + index);
            });
        final IllegalStateException failure;
        try (FaultInjection ignored =
            FaultInjection.apply(FaultPlan.parse("call:ibv_destroy_cq:EINVAL@1,call:ibv_destroy_cq:EIO@2"))) {
            failure = assertThrows(IllegalStateException.class, description::start);
        }
        assertEquals("no pipeline 0", failure.getMessage());
        final Throwable first = failure.getSuppressed()[0];
        assertTrue(first.getMessage().contains("EINVAL"), first::getMessage);
        final Throwable second = first.getSuppressed()[0];
        assertTrue(second.getMessage().contains("EIO"), second::getMessage);
        assertEquals(before, ProcessResources.objectsBackTo(before));
    }

    /** The device, which the sizes do not fit, is closed again. */
    @Test
    void shouldReportTheReasonOfAFailedStartAlsoIfItCannotCloseItsDevice() {
        final Map<String, Long> before = ProcessResources.objects();
        final ConnectionSetBuilder description = SetPair.builder().listener(server).messagesInFlight(32_768);
        final IllegalArgumentException failure;
        try (FaultInjection ignored = FaultInjection.apply(FaultPlan.parse("call:ibv_dealloc_pd:EIO@1+1"))) {
            failure = assertThrows(IllegalArgumentException.class, description::start);
        }
        assertTrue(failure.getMessage().startsWith("messagesInFlight is 32768, "), failure::getMessage);
        assertEquals(1, failure.getSuppressed().length);
        assertEquals(before.get(PROTECTION_DOMAINS), ProcessResources.objectsBackTo(before).get(PROTECTION_DOMAINS));
    }

    /** Nothing can interrupt it, so the time-out begins after it. */
    @Test
    void shouldRegisterMemoryBeforeTheTimeOutOfAConnectBegins() throws Exception {
        try (ConnectionSet set = SetPair.builder().listener(client).start();
            FaultInjection ignored = FaultInjection.apply(FaultPlan.parse("call:ibv_reg_mr:ENOMEM@1"))) {
            // No such address: the resolution fails, too.
            final String first = assertThrows(ConnectException.class, () -> set.connect("203.0.113.1", 1)).getMessage();
            assertTrue(first.contains("rpma_mr_reg"), first);
            final String second = assertThrows(ConnectException.class, () -> set.connect("203.0.113.1", 1)).getMessage();
            assertTrue(second.contains("rpma_conn_req_new"), second);
            assertEquals(0, set.connections());
        }
    }

    /** No connection could be accepted, and peers would wait for an answer until their time-outs. */
    @Test
    void shouldRefuseAWindowForWhichTheDeviceHasNoQueues() {
        final ConnectionSetBuilder description = SetPair.builder().listener(server).maxMessageBytes(1).messagesInFlight(32_768);
        final String message = assertThrows(IllegalArgumentException.class, description::start).getMessage();
        assertTrue(message.startsWith("messagesInFlight is 32768, which needs a send queue of 49154: at most "), message);
    }

    @Test
    void shouldNameTheReasonsOfAFailedConnect() throws Exception {
        try (ConnectionSet set = SetPair.builder().listener(client).start()) {
            final String refused =
                assertThrows(ConnectException.class, () -> set.connect(TestDevice.address(), 1)).getMessage();
            assertTrue(refused.contains("nobody listens there, or the server has refused the request"), refused);
        }
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint silent = peer.listen(TestDevice.address(), "0");
            ConnectionSet set = SetPair.builder().listener(client).start()) {
            final FutureTask<MessageConnection> connect =
                new FutureTask<>(() -> set.connect(TestDevice.address(), silent.port()));
            Thread.ofPlatform().daemon().start(connect);
            while (set.connections() == 0) {
                assertFalse(Thread.currentThread().isInterrupted(), "time-out");
            }
            assertTrue(set.close(SetPair.TEN_SECONDS));
            final Throwable closed = assertThrows(ExecutionException.class, connect::get).getCause();
            assertTrue(closed.getMessage().contains(" is closed"), closed::toString);
        }
    }

    @Test
    void shouldResolveWithinTheTimeOutOfAConnect() {
        // The device has the time-out for the address, and again for the route.
        assertEquals(5_000, ConnectionSet.resolutionMs(TimeUnit.SECONDS.toNanos(10)));
        assertEquals(1, ConnectionSet.resolutionMs(0));
        assertEquals(1, ConnectionSet.resolutionMs(TimeUnit.MILLISECONDS.toNanos(1)));
        assertEquals(Integer.MAX_VALUE, ConnectionSet.resolutionMs(Long.MAX_VALUE));
    }

    /** The first completion is lost: nobody gets those behind it. */
    @Test
    void shouldEndEachOperationWhoseCompletionIsLost() throws Exception {
        final Recorder tags = new Recorder() {
            @Override
            public void onOperationCompleted(final MessageConnection connection, final long tag, final int status) {
                add("operation " + tag + ' ' + WcStatus.name(status));
            }
        };
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion memory = peer.allocate(8, MemoryUsage.WRITE_SOURCE, MemoryUsage.WRITE_DESTINATION);
            RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(memory.descriptor());
            FaultInjection ignored = FaultInjection.apply(FaultPlan.parse("overrun@1#1"));
            SetPair pair = SetPair.of(builder -> builder.address(null).peer(peer).operationsInFlight(3), server, tags)) {
            final MessageConnection connection = pair.connect();
            assertTrue(connection.execute(() -> {
                for (int i = 0; i < 3; i++) {
                    assertTrue(connection.tryWrite(remote, 0, memory, 0, 8, i));
                }
            }));
            assertEquals("disconnected FAILED", tags.await("disconnected"));
        }
        assertEquals(List.of("connected", "operation 0 IBV_WC_WR_FLUSH_ERR", "operation 1 IBV_WC_WR_FLUSH_ERR",
            "operation 2 IBV_WC_WR_FLUSH_ERR", "disconnected FAILED"), tags.all);
    }

    @Test
    void shouldNotCountAnOperationThatTheDeviceRefuses() throws Exception {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion memory = peer.allocate(8, MemoryUsage.WRITE_SOURCE, MemoryUsage.WRITE_DESTINATION);
            RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(memory.descriptor());
            FaultInjection ignored = FaultInjection.apply(FaultPlan.parse("full@1#1"));
            SetPair pair = SetPair.of(builder -> builder.address(null).peer(peer).operationsInFlight(3), server, client)) {
            final MessageConnection connection = pair.connect();
            assertTrue(connection.execute(() -> assertFalse(connection.tryWrite(remote, 0, memory, 0, 8, 0))));
            assertEquals("disconnected FAILED", client.await("disconnected"));
            assertEquals(0, pair.client().listenerExceptions());
        }
        assertEquals(List.of("connected", "disconnected FAILED"), client.all);
    }

    /** Nothing would return the credit later: the peer would wait for ever. */
    @Test
    void shouldEndAConnectionThatCannotReturnCredits() throws Exception {
        try (FaultInjection ignored = FaultInjection.apply(FaultPlan.parse("full@1#2"));
            SetPair pair = SetPair.of(builder -> builder.messagesInFlight(1), server, client)) {
            final MessageConnection connection = pair.connect();
            final UnsafeBuffer message = new UnsafeBuffer("only".getBytes(StandardCharsets.UTF_8));
            assertTrue(connection.execute(() -> connection.trySend(message, 0, message.capacity())));
            server.await("message only");
            assertEquals("disconnected FAILED", server.await("disconnected"));
            client.await("disconnected");
        }
    }

    /** The peer would receive later messages without it, and a goodbye as if it had all. */
    @ParameterizedTest
    @EnumSource(SetKind.class)
    void shouldSendNothingAfterARefusedMessageWhileAnotherThreadCloses(final SetKind kind) throws Exception {
        try (FaultInjection ignored = FaultInjection.apply(FaultPlan.parse("full@2#1"));
            SetPair pair = SetPair.of(kind, builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            assertTrue(connection.execute(() -> send(connection, "m0")));
            assertEquals("message m0", server.await("message"));
            final CompletableFuture<Boolean> laterIsSent = new CompletableFuture<>();
            assertTrue(connection.execute(() -> {
                OtherThread.run(() -> {
                    connection.close();
                    return null;
                }).result();
                send(connection, "refused");
                laterIsSent.complete(send(connection, "m2"));
            }));
            assertFalse(laterIsSent.get(30, TimeUnit.SECONDS));
            assertEquals("disconnected CLOSED", client.await("disconnected"));
            assertEquals("disconnected PEER_LOST", server.await("disconnected"));
        }
        assertEquals(List.of("connected", "message m0", "disconnected PEER_LOST"), server.all);
    }

    private static boolean send(final MessageConnection connection, final String text) {
        final UnsafeBuffer message = new UnsafeBuffer(text.getBytes(StandardCharsets.UTF_8));
        return connection.trySend(message, 0, message.capacity());
    }
}
