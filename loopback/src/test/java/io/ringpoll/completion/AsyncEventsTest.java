package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Asynchronous events of the device, and their delivery to listeners. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class AsyncEventsTest {
    private static final int MANY = 10_000;

    private final BlockingQueue<AsyncEvent> events = new LinkedBlockingQueue<>();

    @Test
    void shouldReportAnOverrunOfACompletionQueue() throws InterruptedException {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(2).sqSize(MANY / 10));
            AsyncEvents.Subscription subscription = AsyncEvents.listen(pair.peer().context(), events::add)) {
            assertNotNull(subscription);
            overrun(pair);
            final AsyncEvent event = awaitEvent(AsyncEventType.CQ_ERR);
            assertEquals(pair.peer().context().name(), event.device());
            assertTrue(pair.client().completionQueue().isSubjectOf(event));
            assertTrue(pair.client().isSubjectOf(event));
            assertFalse(pair.server().isSubjectOf(event));
            assertTrue(event.description().startsWith(event.device() + ": CQ_ERR on completion queue 0x"), event::description);
        }
    }

    @Test
    void shouldLetAListenerCloseWhatFailed() throws InterruptedException {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(2).sqSize(MANY / 10));
            AsyncEvents.Subscription subscription = AsyncEvents.listen(pair.peer().context(), event -> {
                pair.client().close();
                events.add(event);
            })) {
            assertNotNull(subscription);
            overrun(pair);
            assertTrue(awaitEvent(AsyncEventType.CQ_ERR).completionQueueAddress() != 0);
            assertTrue(pair.client().isClosed());
        }
    }

    @Test
    void shouldPassEventsToEveryListenerEvenIfOneFails() throws InterruptedException {
        try (LogCapture log = new LogCapture(AsyncEvents.class.getName());
            ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(2).sqSize(MANY / 10))) {
            final AsyncEvents.Subscription failing = AsyncEvents.listen(pair.peer().context(), event -> {
                throw new AssertionError("a listener that fails on purpose");
            });
            final AsyncEvents.Subscription listening = AsyncEvents.listen(pair.peer().context(), events::add);
            overrun(pair);
            assertNotNull(awaitEvent(AsyncEventType.CQ_ERR));
            assertTrue(log.await(message -> message.startsWith("SEVERE a listener failed on")));
            failing.close();
            failing.close();
            listening.close();
        }
    }

    @Test
    void shouldReportNothingAfterTheSubscriptionIsClosed() throws InterruptedException {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(2).sqSize(MANY / 10))) {
            AsyncEvents.listen(pair.peer().context(), events::add).close();
            overrun(pair);
            assertNull(events.poll(50, TimeUnit.MILLISECONDS));
        }
        takeUnreadEvents();
    }

    @Test
    void shouldReadOnADaemonThreadThatEndsWithTheLastSubscription() throws InterruptedException {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            final AsyncEvents.Subscription subscription = AsyncEvents.listen(peer.context(), events::add);
            final Thread reader = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("ringpoll-async-" + peer.context().name())).findAny().orElseThrow();
            assertTrue(reader.isDaemon(), "it would keep the JVM from ending");
            subscription.close();
            reader.join(ConnectedPair.TIMEOUT_MS);
            assertFalse(reader.isAlive());
        }
    }

    /** Unread events would be taken for those of the next test. They precede another one, however late they are read. */
    private void takeUnreadEvents() throws InterruptedException {
        try (ConnectedPair later = ConnectedPair.of(config -> config.cqSize(2).sqSize(MANY / 10));
            AsyncEvents.Subscription subscription = AsyncEvents.listen(later.peer().context(), events::add)) {
            assertNotNull(subscription);
            overrun(later, () -> false);
            while (!later.client().completionQueue().isSubjectOf(awaitEvent(AsyncEventType.CQ_ERR))) {
                Thread.onSpinWait();
            }
        }
    }

    private AsyncEvent awaitEvent(final AsyncEventType type) throws InterruptedException {
        AsyncEvent event;
        do {
            event = events.poll(ConnectedPair.TIMEOUT_MS, TimeUnit.MILLISECONDS);
            assertNotNull(event, () -> "no " + type);
        } while (event.type() != type);
        return event;
    }

    /** Posts more than the completion queue holds, without reading it. */
    private void overrun(final ConnectedPair pair) {
        overrun(pair, () -> !events.isEmpty());
    }

    private static void overrun(final ConnectedPair pair, final BooleanSupplier reported) {
        pair.client().completionQueue().withoutBudget();
        for (int i = 0; i < MANY / 10 && !reported.getAsBoolean(); i++) {
            try {
                if (!pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, i)) {
                    break;
                }
            } catch (final IllegalStateException e) {
                assertTrue(pair.client().isClosed(), e::getMessage);
                break;
            }
        }
    }
}
