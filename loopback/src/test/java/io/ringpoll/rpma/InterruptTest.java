package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.os.WaitInterruptedException;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Interrupts end waits, on platform threads and on virtual ones, which leave their carriers to others meanwhile. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class InterruptTest {
    private static final int TIMEOUT_MS = ConnectedPair.TIMEOUT_MS;

    private ConnectedPair shared;
    private ConnectedPair separate;
    private Endpoint endpoint;
    private VerbsCompletionQueue verbs;
    private CompletionChannel channel;

    @BeforeEach
    void connect() {
        shared = ConnectedPair.of(config -> config.rcqSize(10).sharedCompletionChannel(true));
        separate = ConnectedPair.of(config -> config.rcqSize(10));
        endpoint = separate.closed(separate.peer().listen(TestDevice.address(), ConnectedPair.anyPort()));
        verbs = separate.closed(separate.server().receiveCompletionQueue().orElseThrow().openVerbs());
        channel = separate.closed(CompletionChannel.borrow(verbs));
    }

    @AfterEach
    void disconnect() {
        Thread.interrupted();
        shared.close();
        separate.close();
    }

    @Test
    void shouldEndEachWaitAtAnInterrupt() {
        for (final Callable<?> wait : waits(-1)) {
            final OtherThread<String> waiting = OtherThread.run(() -> messageOfInterrupted(wait));
            waiting.requireWaiting();
            waiting.interrupt();
            assertTrue(waiting.result().endsWith(" was interrupted"), waiting::result);
        }
    }

    @Test
    void shouldNotBeginAWaitInAnInterruptedThread() {
        for (final Callable<?> wait : waits(TIMEOUT_MS)) {
            Thread.currentThread().interrupt();
            final long startNs = System.nanoTime();
            assertTrue(messageOfInterrupted(wait).endsWith(" was interrupted"));
            assertTrue(System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS) / 2);
        }
    }

    @Test
    void shouldLookWithoutWaitingInAnInterruptedThread() {
        Thread.currentThread().interrupt();
        assertEquals(Optional.empty(), shared.server().nextEvent(0));
        assertEquals(Optional.empty(), shared.server().awaitCompletions(0));
        assertFalse(separate.server().completionQueue().await(0));
        assertEquals(Optional.empty(), endpoint.nextRequest(0));
        assertNull(channel.await(0));
        assertTrue(Thread.interrupted());
    }

    @Test
    void shouldWaitAgainAfterAnInterrupt() {
        final RpmaCompletionQueue queue = separate.client().completionQueue();
        Thread.currentThread().interrupt();
        assertThrows(WaitInterruptedException.class, () -> queue.await(-1));
        assertTrue(Thread.interrupted());
        assertFalse(queue.await(5), "the interrupt has left a signal");
        assertTrue(separate.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1));
        assertTrue(queue.await(TIMEOUT_MS));
        new Completions().await(queue, 1);
    }

    @Test
    void shouldNotResolveAnAddressInAnInterruptedThread() {
        Thread.currentThread().interrupt();
        assertThrows(WaitInterruptedException.class, () -> separate.peer().request(TestDevice.address(), "1"));
        assertThrows(WaitInterruptedException.class, () -> separate.peer().listen(TestDevice.address(), "0"));
        assertThrows(WaitInterruptedException.class, () -> Peer.ofLocal(TestDevice.address()));
        assertTrue(Thread.interrupted());
    }

    @Test
    void shouldLeaveTheCarriersToOthersWhileVirtualThreadsWait() throws InterruptedException {
        final int many = 4 * Runtime.getRuntime().availableProcessors();
        final List<Thread> waiting = new ArrayList<>();
        final CountDownLatch interrupted = new CountDownLatch(many);
        for (int i = 0; i < many; i++) {
            waiting.add(Thread.ofVirtual().start(() -> {
                messageOfInterrupted(() -> endpoint.nextRequest(-1));
                interrupted.countDown();
            }));
        }
        for (final Thread thread : waiting) {
            awaitState(thread, Thread.State.WAITING);
        }
        final CountDownLatch runs = new CountDownLatch(1);
        Thread.ofVirtual().start(runs::countDown);
        assertTrue(runs.await(50, TimeUnit.SECONDS), "no carrier is left");
        waiting.forEach(Thread::interrupt);
        assertTrue(interrupted.await(50, TimeUnit.SECONDS), interrupted::toString);
    }

    @Test
    void shouldServeAVirtualThreadAsAnyOther() throws Exception {
        final RpmaCompletionQueue queue = separate.client().completionQueue();
        final CompletableFuture<Boolean> came = new CompletableFuture<>();
        final CompletableFuture<String> ended = new CompletableFuture<>();
        final Thread thread = Thread.ofVirtual().start(() -> {
            came.complete(queue.await(TIMEOUT_MS));
            ended.complete(assertThrows(IllegalStateException.class, () -> separate.client().nextEvent(-1)).getMessage());
        });
        awaitState(thread, Thread.State.WAITING);
        assertTrue(separate.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1));
        assertTrue(came.get(50, TimeUnit.SECONDS));
        awaitState(thread, Thread.State.WAITING);
        separate.client().close();
        assertEquals(separate.client().name() + " is closed", ended.get(50, TimeUnit.SECONDS));
    }

    private List<Callable<?>> waits(final int timeoutMs) {
        return List.of(() -> shared.server().nextEvent(timeoutMs), () -> shared.server().awaitCompletions(timeoutMs),
            () -> separate.server().completionQueue().await(timeoutMs), () -> endpoint.nextRequest(timeoutMs),
            () -> channel.await(timeoutMs));
    }

    private static String messageOfInterrupted(final Callable<?> wait) {
        final String message = assertThrows(WaitInterruptedException.class, wait::call).getMessage();
        assertTrue(Thread.interrupted(), "the interrupt status is not set");
        return message;
    }

    private static void awaitState(final Thread thread, final Thread.State state) {
        final long startNs = System.nanoTime();
        while (thread.getState() != state) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(50), thread::toString);
            Thread.onSpinWait();
        }
    }
}
