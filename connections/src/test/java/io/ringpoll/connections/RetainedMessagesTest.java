package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The handles of retained messages. */
@Timeout(60)
class RetainedMessagesTest {
    /** More than the receives of the largest window. */
    private static final int BUFFERS = 40_000;

    private final RetainedMessages messages = new RetainedMessages(BUFFERS);
    private final RetainedMessages others = new RetainedMessages(BUFFERS);

    @Test
    void shouldKnowItsOwnHandlesOnly() {
        final Set<Long> handles = new HashSet<>();
        for (int i = 0; i < BUFFERS; i++) {
            final long handle = messages.add(i);
            final long other = others.add(i);
            assertTrue(handles.add(handle) && handles.add(other), "a handle twice");
            assertEquals(-1, messages.remove(other));
            assertEquals(-1, others.remove(handle));
            assertEquals(i, others.remove(other));
            assertEquals(-1, others.remove(other), "released before");
            if (i % 2 == 0) {
                assertEquals(i, messages.remove(handle));
                assertEquals(-1, messages.remove(handle), "released before");
            }
        }
        assertTrue(others.isEmpty());
        assertTrue(!messages.isEmpty());
    }

    @Test
    void shouldKnowNoOtherNumber() {
        final long handle = messages.add(0);
        for (final long unknown : new long[]{0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, handle + 1, -handle, BUFFERS}) {
            assertEquals(-1, messages.remove(unknown));
        }
        assertEquals(0, messages.remove(handle));
        assertEquals(-1, new RetainedMessages(1).remove(0));
    }
}
