package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PendingRepliesTest {
    private static final long SHORT_NS = 100;

    private static final MessageType TYPE = MessageType.CLIENT_REQUEST;

    private final PendingReplies pending = new PendingReplies(null);

    @Test
    void shouldNumberRequestsFromOne() {
        for (long id = 1; id < 4; id++) {
            assertEquals(id, pending.add(TYPE, SHORT_NS).correlationId());
        }
    }

    @Test
    void shouldRemoveEachReplyOnce() {
        final Reply first = pending.add(TYPE, SHORT_NS);
        final Reply second = pending.add(TYPE, SHORT_NS);
        assertSame(second, pending.remove(second.correlationId()));
        assertNull(pending.remove(second.correlationId()));
        assertSame(first, pending.remove(first.correlationId()));
    }

    @Test
    void shouldRefuseAReplyOfAnotherTypeAndKeepTheRequest() throws Exception {
        final Reply reply = pending.add(TYPE, SHORT_NS);
        final long id = reply.correlationId();
        assertThrows(ProtocolException.class, () -> pending.remove(header(MessageType.REQUEST_VOTE, id)));
        assertSame(reply, pending.remove(header(TYPE, id)));
        assertNull(pending.remove(header(MessageType.REQUEST_VOTE, id)));
    }

    private static FrameHeader header(final MessageType type, final long correlationId) {
        return new FrameHeader(FrameKind.REPLY, type.code(), (byte) 0, 0, correlationId, 0, 0);
    }

    @Test
    void shouldFindTheOverdueRepliesOnly() {
        final Reply first = pending.add(TYPE, SHORT_NS);
        final Reply second = pending.add(TYPE, SHORT_NS);
        pending.add(TYPE, TimeUnit.HOURS.toNanos(1));
        pending.add(TYPE, Reply.NO_TIMEOUT);
        assertEquals(List.of(), pending.overdue(first.sentNs() + SHORT_NS));
        final List<Reply> overdue = pending.overdue(second.sentNs() + SHORT_NS + 1);
        assertEquals(2, overdue.size());
        assertEquals(Set.of(first, second), Set.copyOf(overdue));
    }

    @Test
    void shouldHoldNoReplyAfterTheRemovalOfAll() {
        final Reply first = pending.add(TYPE, SHORT_NS);
        final Reply second = pending.add(TYPE, Reply.NO_TIMEOUT);
        assertEquals(Set.of(first, second), Set.copyOf(pending.removeAll()));
        assertNull(pending.remove(first.correlationId()));
        assertEquals(List.of(), pending.overdue(first.sentNs() + SHORT_NS + 1));
        assertEquals(List.of(), pending.removeAll());
    }
}
