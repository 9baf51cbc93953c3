package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.AsyncEventType;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queues of the user that break the contract. */
@Timeout(60)
class UsersQueueTest {
    private static final AsyncEvent FAILED = new AsyncEvent("device", AsyncEventType.CQ_ERR, 1, 0, 0);

    private final CompletionPoller poller =
        new CompletionPoller("poller", new ArraySlots(64, 64), 4, new PollerCounterSet(TestCounters.create(), "poller"));
    private final List<String> asked = new ArrayList<>();

    /** A queue that cannot be asked about an event. */
    private final class Unaskable implements CompletionQueue {
        private final String name;

        Unaskable(final String name) {
            this.name = name;
        }

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            return 0;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public boolean isSubjectOf(final AsyncEvent event) {
            asked.add(name);
            throw new IllegalStateException("provoked");
        }
    }

    /** The failed queue may be one behind it. */
    @Test
    void shouldAskTheOtherQueuesAboutAnEventWhenOneThrows() {
        final List<String> names = List.of("a", "b", "c");
        names.forEach(name -> poller.queues().add(new Unaskable(name)));
        poller.queues().onEvent(FAILED);
        assertEquals(names, asked.stream().sorted().toList());
        assertEquals(3, poller.doWork(), "each has a fault");
    }

    @Test
    void shouldNameAQueueWithoutAName() {
        final int index = poller.queues().add(new Unaskable(null));
        assertEquals("completion queue " + index, poller.queues().name(index));
    }
}
