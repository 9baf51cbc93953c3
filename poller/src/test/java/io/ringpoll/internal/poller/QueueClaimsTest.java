package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.poller.ScriptedQueue;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Additions that fail half-way leave a queue to any poller. */
@Timeout(60)
class QueueClaimsTest {
    private final CompletionPoller poller = newPoller("poller");

    @Test
    void shouldAddAQueueWithAClaimThatAStackOverflowHasLeftBehind() throws TimeoutException {
        final CompletionPoller other = newPoller("other");
        final ScriptedQueue queue = new ScriptedQueue("queue");
        for (final CompletionPoller claiming : List.of(poller, other)) {
            assertNull(QueueClaims.claim(queue, queue, claiming.queues()));
            poller.queues().add(queue);
            assertThrows(IllegalStateException.class, () -> other.queues().add(queue));
            poller.queues().remove(queue, 1);
        }
    }

    @Test
    void shouldReleaseTheClaimOfAQueueThatCannotBeAdded() {
        final CompletionQueue failing = new CompletionQueue() {
            @Override
            public int poll(final WorkCompletions records, final int first, final int maxEntries) {
                return 0;
            }

            @Override
            public String name() {
                throw new IllegalStateException("no name");
            }
        };
        assertThrows(IllegalStateException.class, () -> poller.queues().add(failing));
        // Not their number, which falls when queues of other tests are collected.
        assertNull(QueueClaims.of(failing.underlying()));
        assertEquals(0, poller.queues().add(new ScriptedQueue("next")), "an index is lost");
    }

    private static CompletionPoller newPoller(final String name) {
        return new CompletionPoller(name, new ArraySlots(64, 64), 4, new PollerCounterSet(TestCounters.create(), name));
    }
}
