package io.ringpoll.internal.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queues with polls that can leave the budget to the caller. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class CountedQueuesTest {
    /** A queue that another class makes counted. */
    private static final class Registered {
        private int poll(final long wcAddress, final int maxEntries) {
            return (int) wcAddress + maxEntries;
        }
    }

    @Test
    void shouldFindQueuesThatAreCountedThemselvesOrByTheirClass() {
        final CountedQueue own = (wcAddress, maxEntries) -> maxEntries;
        assertSame(own, CountedQueues.of(own));
        CountedQueues.register(Registered.class, queue -> queue::poll);
        assertEquals(42, CountedQueues.of(new Registered()).pollUncounted(40, 2));
        assertNull(CountedQueues.of("another class"));
    }
}
