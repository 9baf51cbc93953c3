package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.mockito.InOrder;

/** An appender with several requests under way. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LogAppenderWindowTest extends LogAppenderFixture {
    private static final int WINDOW = 3;

    LogAppenderWindowTest() {
        super(WINDOW);
    }

    private Sent sentNow() {
        final Sent now = sent.poll();
        assertNotNull(now, "a request");
        return now;
    }

    private long firstOf(final Sent request) {
        return request.request().getEntries(0).getIndex();
    }

    @Test
    void shouldSendWithoutWaitingForReplies() throws Exception {
        follow();
        for (int index = 1; index <= WINDOW; index++) {
            append();
            final Sent request = sentNow();
            assertSame(Thread.currentThread(), request.by());
            assertEquals(index, firstOf(request));
            assertEquals(1, request.entries());
            assertEquals(index + 1, followerNext.get());
        }
    }

    @Test
    void shouldCollectEntriesWhileTheWindowIsFull() throws Exception {
        follow();
        final Sent[] requests = new Sent[WINDOW];
        for (int i = 0; i < WINDOW; i++) {
            append();
            requests[i] = sentNow();
        }
        append();
        append();
        assertNull(sent.poll(), "over the limit");
        requests[0].answer(AppendResult.SUCCESS);
        final Sent next = sentNow();
        assertEquals(WINDOW + 1, firstOf(next));
        assertEquals(2, next.entries());
        assertNull(sent.poll());
    }

    @Test
    void shouldProcessRepliesInOrder() throws Exception {
        follow();
        append();
        final Sent first = sentNow();
        append();
        final Sent second = sentNow();
        second.answer(AppendResult.SUCCESS);
        verify(follower, never()).updateMatchIndex(2);
        first.answer(AppendResult.SUCCESS);
        final InOrder inOrder = inOrder(follower);
        inOrder.verify(follower).updateMatchIndex(1);
        inOrder.verify(follower).updateMatchIndex(2);
    }

    @Test
    void shouldStartAgainWithTheFirstEntryWithoutReplyAndIgnoreLateReplies() throws Exception {
        final Thread own = follow();
        append();
        final Sent first = sentNow();
        append();
        final Sent second = sentNow();
        append();
        final Sent third = sentNow();
        first.answer(AppendResult.SUCCESS);
        second.reply().completeExceptionally(new IOException("gone"));
        final Sent again = next();
        assertSame(own, again.by());
        assertEquals(2, firstOf(again));
        assertEquals(2, again.entries());
        third.answer(AppendResult.SUCCESS);
        verify(follower, never()).updateMatchIndex(3);
        append();
        assertNull(sent.poll(), "a second request before the follower has accepted one");
        again.answer(AppendResult.SUCCESS);
        assertEquals(4, firstOf(next()));
    }

    @Test
    void shouldSetTheNextIndexBackOnceWhenAllRequestsAreRefused() throws Exception {
        final Thread own = follow();
        final Sent[] requests = new Sent[WINDOW];
        for (int i = 0; i < WINDOW; i++) {
            append();
            requests[i] = sentNow();
        }
        for (final Sent request : requests) {
            request.answer(AppendResult.INCONSISTENCY, 0, 0);
        }
        final Sent again = next();
        assertSame(own, again.by());
        assertEquals(0, firstOf(again));
        verify(leader).onAppendEntriesReply(any(), any());
        verify(follower, never()).updateMatchIndex(WINDOW);
    }

    /** It must not name the entry before, which may be pending at the follower. */
    @Test
    void shouldSendAHeartbeatBesideTheEntriesAndAnotherOneAfterThemForARead() throws Exception {
        final Thread own = follow();
        append();
        final Sent entries = sentNow();
        assertTrue(entries.request().hasPreviousLog());
        appender.triggerHeartbeat();
        final Sent beside = next();
        assertSame(own, beside.by());
        assertEquals(0, beside.entries());
        assertFalse(beside.request().hasPreviousLog());
        beside.answer(AppendResult.SUCCESS);
        entries.answer(AppendResult.SUCCESS);
        final Sent after = next();
        assertEquals(0, after.entries());
        assertEquals(1, after.request().getPreviousLog().getIndex());
        after.answer(AppendResult.SUCCESS);
        awaitParked(own);
        assertNull(sent.poll());
    }

    @Test
    void shouldSendASnapshotAfterTheEntriesThatAreUnderWay() throws Exception {
        final Thread own = follow();
        append();
        final Sent first = sentNow();
        append();
        final Sent second = sentNow();
        final CompletableFuture<Thread> snapshot = new CompletableFuture<>();
        final SnapshotInfo info = mock(SnapshotInfo.class);
        when(info.getTermIndex()).thenReturn(TermIndex.valueOf(1, 9));
        when(server.getStateMachine().getLatestSnapshot()).thenReturn(info);
        when(info.getFiles()).thenAnswer(call -> {
            snapshot.complete(Thread.currentThread());
            throw new IllegalStateException("on purpose");
        });
        when(log.getStartIndex()).thenReturn(9L);
        logEnd.set(10);
        appender.notifyLogAppender();
        awaitParked(own);
        assertFalse(snapshot.isDone());
        first.answer(AppendResult.SUCCESS);
        awaitParked(own);
        assertFalse(snapshot.isDone());
        second.answer(AppendResult.SUCCESS);
        assertNotSame(Thread.currentThread(), snapshot.get(30, TimeUnit.SECONDS));
        assertNull(sent.poll());
    }
}
