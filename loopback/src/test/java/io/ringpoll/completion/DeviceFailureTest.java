package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.NativeLibrary;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RpmaLog;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.TestDevice;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Failures that Soft-RoCE does not report, or that cannot be provoked there: a queue pair's, the device's, and a completion queue
 * that is dead after its overrun. On the loopback device, which fails as hardware does.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class DeviceFailureTest {
    private final BlockingQueue<AsyncEvent> events = new LinkedBlockingQueue<>();

    @Test
    void shouldReportAFailedQueuePairAndItsDeadQueue() throws InterruptedException {
        // Another test may have caused the same message a short time ago.
        RpmaLog.threshold(RpmaLog.threshold());
        try (LogCapture log = new LogCapture(); ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(2).sqSize(64));
            AsyncEvents.Subscription subscription = AsyncEvents.listen(pair.peer().context(), events::add)) {
            assertNotNull(subscription);
            pair.client().completionQueue().withoutBudget();
            boolean accepted = true;
            for (int i = 0; i < 64 && accepted; i++) {
                accepted = pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, i);
            }
            final AsyncEvent event = awaitEvent(AsyncEventType.QP_FATAL);
            assertEquals(pair.client().queuePairNumber(), event.queuePairNumber());
            assertTrue(pair.client().isSubjectOf(event));
            assertFalse(pair.server().isSubjectOf(event));
            assertEquals(event.device() + ": QP_FATAL on queue pair " + event.queuePairNumber(), event.description());
            assertTrue(pair.client().completionQueue().poll(new Completions().records(), 0, 1) < 0);
            assertTrue(log.await(message -> message.contains("ibv_poll_cq() failed")));
        }
    }

    @Test
    void shouldReportAFailedDeviceAndPort() throws Throwable {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            AsyncEvents.Subscription subscription = AsyncEvents.listen(peer.context(), events::add)) {
            assertNotNull(subscription);
            raise(peer, AsyncEventType.DEVICE_FATAL);
            assertEquals(peer.context().name() + ": DEVICE_FATAL", awaitEvent(AsyncEventType.DEVICE_FATAL).description());
            raise(peer, AsyncEventType.PORT_ERR);
            assertEquals(1, awaitEvent(AsyncEventType.PORT_ERR).port());
        }
    }

    private static void raise(final Peer peer, final AsyncEventType type) throws Throwable {
        final NativeLibrary device = Libraries.current().ibverbs();
        final MethodHandle raise = device.plain("ringpoll_loopback_raise",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
        assertEquals(0, (int) raise.invokeExact(peer.context().address(), type.value()));
    }

    private AsyncEvent awaitEvent(final AsyncEventType type) throws InterruptedException {
        AsyncEvent event;
        do {
            event = events.poll(ConnectedPair.TIMEOUT_MS, TimeUnit.MILLISECONDS);
            assertNotNull(event, () -> "no " + type);
        } while (event.type() != type);
        return event;
    }
}
