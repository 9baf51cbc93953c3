package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.after;
import static org.mockito.Mockito.atLeastOnce;
import static org.mockito.Mockito.clearInvocations;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.timeout;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.ringpoll.internal.transport.MessageTooLongException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.proto.RaftProtos.StateMachineEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.server.raftlog.RaftLogIOException;
import org.apache.ratis.util.LifeCycle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The thread and the time at which an appender sends that waits for each reply. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LogAppenderTurnTest extends LogAppenderFixture {
    private static final int QUIET_MS = 200;
    private static final int HEALTH_MS = 4_000;

    LogAppenderTurnTest() {
        super(1);
    }

    @Test
    void shouldSendOnTheAppendingThread() throws Exception {
        assertNotSame(Thread.currentThread(), follow());
        append();
        // The request is in flight when the call returns.
        final Sent second = sent.poll();
        assertNotNull(second);
        assertSame(Thread.currentThread(), second.by());
        second.answer(AppendResult.SUCCESS);
        assertEquals(2, followerNext.get());
        verify(leader, times(2)).onFollowerSuccessAppendEntries(follower);
    }

    /** It would check the follower's health. */
    @Test
    void shouldNotWakeTheAppendersThreadForAnEntryThatTheAppendingThreadSends() throws Exception {
        awaitParked(follow());
        clearInvocations(leader);
        append();
        assertSame(Thread.currentThread(), sent.poll().by());
        verify(leader, after(QUIET_MS).never()).checkHealth(any());
    }

    @Test
    void shouldSendEntriesAppendedMeanwhileOnTheThreadOfTheReply() throws Exception {
        follow();
        append();
        append();
        append();
        final Sent second = sent.poll();
        assertEquals(1, second.entries());
        assertNull(sent.poll(), "a second request in flight");
        second.answer(AppendResult.SUCCESS);
        final Sent third = sent.poll();
        assertNotNull(third);
        assertEquals(2, third.entries());
        assertSame(Thread.currentThread(), third.by());
    }

    @Test
    void shouldSendLongEntriesAppendedMeanwhileOnTheAppendersThread() throws Exception {
        final Thread own = follow();
        append();
        entry = withData(17 << 10);
        append();
        final Sent second = next();
        awaitParked(own);
        second.answer(AppendResult.SUCCESS);
        final Sent third = next();
        assertEquals(1, third.entries());
        assertSame(own, third.by());
    }

    @Test
    void shouldSendTheFirstEntryDirectlyAfterAHeartbeatOfAnEmptyLog() throws Exception {
        appender.start();
        appender.triggerHeartbeat();
        final Sent heartbeat = next();
        assertEquals(0, heartbeat.entries());
        awaitParked(heartbeat.by());
        heartbeat.answer(AppendResult.SUCCESS);
        append();
        assertSame(Thread.currentThread(), next().by());
    }

    @Test
    void shouldSendNothingDirectlyBehindAnEntryThatOnlyASnapshotHas() throws Exception {
        final Thread own = follow();
        awaitParked(own);
        doAnswer(call -> null).when(log).getTermIndex(anyLong());
        appender.triggerHeartbeat();
        next().answer(AppendResult.SUCCESS);
        append();
        assertSame(own, next().by());
    }

    @Test
    void shouldSendNothingOnACommitOnly() throws Exception {
        awaitParked(follow());
        clearInvocations(leader);
        appender.notifyLogAppender();
        // A woken thread would check the follower's health.
        verify(leader, after(QUIET_MS).never()).checkHealth(any());
        append();
        assertEquals(1, next().entries());
        assertNull(sent.poll());
    }

    @Test
    void shouldIgnoreANotificationWhenTheLogHasBeenClosed() throws Exception {
        awaitParked(follow());
        doThrow(new IllegalStateException("closed")).when(log).getNextIndex();
        clearInvocations(log);
        appender.notifyLogAppender();
        assertNull(sent.poll());
        // The appender's own thread would ask, too, and end with the exception.
        verify(log, after(QUIET_MS).times(1)).getNextIndex();
    }

    @Test
    void shouldSendEntriesWithStateMachineDataOnTheAppendersThread() throws Exception {
        final Thread own = follow();
        entry = StateMachineLogEntryProto.newBuilder().setStateMachineEntry(StateMachineEntryProto.getDefaultInstance()).build();
        append();
        assertSame(own, next().by());
    }

    @Test
    void shouldSendTheFirstEntryOfTheLogDirectlyAndEarlierOnesOnTheAppendersThread() throws Exception {
        final Thread own = follow();
        when(log.getStartIndex()).thenReturn(1L);
        append();
        final Sent first = sent.poll();
        assertNotNull(first);
        assertSame(Thread.currentThread(), first.by());
        first.answer(AppendResult.SUCCESS);
        when(log.getStartIndex()).thenReturn(3L);
        append();
        assertSame(own, next().by());
    }

    @Test
    void shouldSendEntriesOfAFewBytesDirectlyAndLongOnesOnTheAppendersThread() throws Exception {
        final Thread own = follow();
        final int limit = 16 << 10;
        int length = limit;
        do {
            entry = withData(--length);
        } while (entry(1).getSerializedSize() > limit);
        assertEquals(limit, entry(1).getSerializedSize());
        append();
        final Sent few = sent.poll();
        assertNotNull(few);
        assertSame(Thread.currentThread(), few.by());
        few.answer(AppendResult.SUCCESS);
        entry = withData(length + 1);
        append();
        assertSame(own, next().by());
    }

    @Test
    void shouldSendADueHeartbeatOnTheAppendersThread() throws Exception {
        final Thread own = follow();
        // A heartbeat is due after half of the time-out without a reply: now.
        silenceMs = LONG_MS / 2;
        append();
        assertSame(own, next().by());
    }

    @Test
    void shouldCheckTheHealthOfItsFollower() throws Exception {
        final Thread own = follow();
        connected = false;
        append();
        assertSame(own, next().by());
        verify(leader, atLeastOnce()).checkHealth(follower);
    }

    @Test
    void shouldConnectOnTheAppendersThread() throws Exception {
        final Thread own = follow();
        connected = false;
        append();
        assertSame(own, next().by());
    }

    @Test
    void shouldRetryOnTheAppendersThreadWhenTheFollowerIsUnreachable() throws Exception {
        final Thread own = follow();
        append();
        next().reply().completeExceptionally(new IOException("gone"));
        final Sent again = next();
        assertEquals(1, again.entries());
        assertSame(own, again.by());
    }

    @Test
    void shouldSendFewerEntriesToAFollowerThatAcceptsNoLongerRequests() throws Exception {
        follow();
        entry = withData(1_000);
        logEnd.addAndGet(9);
        append();
        final Sent tooLong = next();
        assertEquals(10, tooLong.entries());
        tooLong.reply().completeExceptionally(new MessageTooLongException("too long", 5_000));
        assertEquals(4, next().entries());
    }

    @Test
    void shouldPauseBetweenAttemptsToSendAnEntryThatIsTooLong() throws Exception {
        follow();
        append();
        next().reply().completeExceptionally(new MessageTooLongException("too long", 10));
        assertEquals(1, next().entries());
        verify(server.properties()).rpcSleepTime();
    }

    @Test
    void shouldPauseWhenAFollowerRefusesALengthThatItHasAccepted() throws Exception {
        follow();
        entry = withData(1_000);
        logEnd.addAndGet(9);
        append();
        next().reply().completeExceptionally(new MessageTooLongException("too long", 5_000));
        final Sent shorter = next();
        verify(server.properties(), never()).rpcSleepTime();
        shorter.reply().completeExceptionally(new MessageTooLongException("too long", 5_000));
        assertEquals(4, next().entries());
        verify(server.properties()).rpcSleepTime();
    }

    /** A quarter of the shortest time-out: the leader must find out that it has lost the majority. */
    @Test
    void shouldCheckTheHealthOfItsFollowerDuringARequestWithoutReply() throws Exception {
        when(server.properties().minRpcTimeoutMs()).thenReturn(HEALTH_MS);
        logEnd.set(1);
        appender.start();
        next();
        clearInvocations(leader);
        verify(leader, timeout(2 * HEALTH_MS).atLeast(2)).checkHealth(follower);
    }

    @Test
    void shouldRetryOnTheAppendersThreadWhenARequestCouldNotBeSent() throws Exception {
        final Thread own = follow();
        broken = true;
        append();
        final Sent again = next();
        assertEquals(1, again.entries());
        assertSame(own, again.by());
    }

    @Test
    void shouldSendFewEntriesDirectlyAndManyOnTheAppendersThread() throws Exception {
        final Thread own = follow();
        logEnd.addAndGet(63);
        append();
        final Sent few = sent.poll();
        assertNotNull(few);
        assertEquals(64, few.entries());
        assertSame(Thread.currentThread(), few.by());
        few.answer(AppendResult.SUCCESS);
        logEnd.addAndGet(64);
        append();
        assertSame(own, next().by());
    }

    @ParameterizedTest
    @CsvSource({"SUCCESS, 0", "IN_PROGRESS, 1"})
    void shouldPauseBeforeTheEntriesUnlessTheFollowerHasASnapshot(final InstallSnapshotResult result, final int pauses)
        throws Exception {
        announceSnapshots();
        when(rpc.installSnapshot(any())).thenAnswer(call -> {
            // The first entry that the leader still has is the next one now.
            followerNext.set(3);
            return InstallSnapshotReplyProto.newBuilder().setResult(result).build();
        });
        logEnd.set(4);
        appender.start();
        assertEquals(1, next().entries());
        verify(server.properties(), times(pauses)).rpcSleepTime();
    }

    @Test
    void shouldPauseWhenASnapshotCannotBeAnnounced() throws Exception {
        announceSnapshots();
        when(rpc.installSnapshot(any())).thenAnswer(call -> {
            followerNext.set(3);
            throw new IOException("gone");
        });
        logEnd.set(4);
        appender.start();
        assertEquals(1, next().entries());
        verify(server.properties()).rpcSleepTime();
    }

    @Test
    void shouldReportARejectionToTheLeader() throws Exception {
        follow();
        append();
        next().answer(AppendResult.INCONSISTENCY, 1);
        setBack.get(30, TimeUnit.SECONDS);
        next().answer(AppendResult.SUCCESS);
        verify(leader).onAppendEntriesReply(any(), any());
        verify(leader).onFollowerCommitIndex(follower, 1);
    }

    @Test
    void shouldHandleARejectionOnTheAppendersThread() throws Exception {
        final Thread own = follow();
        append();
        next().answer(AppendResult.INCONSISTENCY);
        assertSame(own, setBack.get(30, TimeUnit.SECONDS));
        assertEquals(2, next().entries());
    }

    /** The follower has what precedes its next index: with that index first, the request has failed because of an earlier one. */
    @Test
    void shouldGoBackWhenARequestIsRefusedThatBeginsWithTheNextIndexOfItsFollower() throws Exception {
        follow();
        append();
        final Sent refused = next();
        assertEquals(1, refused.entries());
        refused.answer(AppendResult.INCONSISTENCY, 0, 1);
        setBack.get(30, TimeUnit.SECONDS);
        verify(follower, timeout(30_000)).setNextIndex(0);
    }

    @Test
    void shouldFollowTheNextIndexOfAFollowerThatRefusesAHeartbeat() throws Exception {
        awaitParked(follow());
        appender.triggerHeartbeat();
        final Sent refused = next();
        assertEquals(0, refused.entries());
        refused.answer(AppendResult.INCONSISTENCY, 0, 1);
        setBack.get(30, TimeUnit.SECONDS);
        verify(follower, timeout(30_000)).setNextIndex(1);
    }

    @Test
    void shouldReadNoEntriesForAFollowerThatHasRefusedARequest() throws Exception {
        follow();
        final CountDownLatch asked = new CountDownLatch(1);
        final CountDownLatch answers = new CountDownLatch(1);
        doAnswer(call -> {
            asked.countDown();
            answers.await();
            followerNext.set(0);
            return null;
        }).when(follower).setNextIndex(anyLong());
        append();
        next().answer(AppendResult.INCONSISTENCY);
        asked.await();
        clearInvocations(log);
        append();
        verify(log, never()).get(anyLong());
        answers.countDown();
        assertEquals(3, next().entries());
    }

    /** It completes watch requests, and asks for the end of the log, which may wait. */
    @Test
    void shouldReportTheCommitIndexOnARequestThread() throws Exception {
        follow();
        append();
        final Sent second = next();
        second.answer(AppendResult.SUCCESS);
        verify(leader, never()).onFollowerCommitIndex(any(), anyLong());
        forRequestThreads.poll().run();
        verify(leader).onFollowerCommitIndex(follower, 0);
        append();
        next().answer(AppendResult.SUCCESS);
        assertNull(forRequestThreads.poll(), "the same index");
        append();
        next().answer(AppendResult.SUCCESS, 1);
        forRequestThreads.poll().run();
        verify(leader).onFollowerCommitIndex(follower, 1);
    }

    /** The test holds the log's lock, as it were: each access on the thread of the reply would wait. */
    @Test
    void shouldNotAccessTheLogOnTheThreadOfTheReply() throws Exception {
        follow();
        append();
        append();
        append();
        final Sent second = sent.poll();
        clearInvocations(log);
        second.answer(AppendResult.SUCCESS);
        assertEquals(2, sent.poll().entries());
        assertEquals(List.of(), logAccesses());
    }

    @Test
    void shouldNotRunAReadOnTheThreadOfTheReply() throws Exception {
        follow();
        append();
        next().answer(AppendResult.SUCCESS);
        verify(leader, never()).onAppendEntriesReply(any(), any());
        forRequestThreads.clear();
        append();
        next().answer(AppendResult.SUCCESS);
        assertNull(forRequestThreads.poll(), "a reply that nobody waits for");
        appender.triggerHeartbeat();
        next().answer(AppendResult.SUCCESS);
        verify(leader, never()).onAppendEntriesReply(any(), any());
        forRequestThreads.poll().run();
        verify(leader).onAppendEntriesReply(any(), any());
    }

    @Test
    void shouldContinueAfterTheLogWasClosedForAMoment() throws Exception {
        awaitParked(follow());
        doThrow(new IllegalStateException("closed")).when(log).getNextIndex();
        appender.notifyLogAppender();
        doAnswer(call -> logEnd.get()).when(log).getNextIndex();
        append();
        assertSame(Thread.currentThread(), next().by());
    }

    @Test
    void shouldRestartWhenTheLeaderCannotProcessAReply() throws Exception {
        follow();
        doThrow(new IllegalStateException("on purpose")).when(leader).onFollowerSuccessAppendEntries(any());
        append();
        next().answer(AppendResult.SUCCESS);
        verify(leader, timeout(LONG_MS)).restart(appender);
    }

    @Test
    void shouldRestartWhenTheLeaderCannotMakeARequest() throws Exception {
        awaitParked(follow());
        doThrow(new IllegalStateException("on purpose")).when(leader)
            .newAppendEntriesRequestProto(any(), any(), any(), anyLong());
        append();
        verify(leader, timeout(LONG_MS)).restart(appender);
    }

    /** The thread has the turn, and would keep it for ever. */
    @Test
    void shouldRestartWhenAnErrorEndsTheSendOfAnEntry() throws Exception {
        awaitParked(follow());
        doThrow(new LinkageError("on purpose")).when(leader)
            .newAppendEntriesRequestProto(any(), any(), any(), anyLong());
        append();
        verify(leader, timeout(LONG_MS)).restart(appender);
    }

    @Test
    void shouldRestartWhenAnErrorEndsTheProcessingOfAReply() throws Exception {
        follow();
        doThrow(new LinkageError("on purpose")).when(leader).onFollowerSuccessAppendEntries(any());
        append();
        next().answer(AppendResult.SUCCESS);
        verify(leader, timeout(LONG_MS)).restart(appender);
    }

    @Test
    void shouldRestartWhenAnEntryCannotBeRead() throws Exception {
        follow();
        doThrow(new RaftLogIOException("on purpose")).when(log).get(anyLong());
        doThrow(new RaftLogIOException("on purpose")).when(log).getEntryWithData(anyLong());
        append();
        verify(leader, timeout(LONG_MS)).restart(appender);
        assertNull(sent.poll());
    }

    /** The engine of version 3.2.2 restarts no appender that ends with an exception, earlier and later ones do. */
    @Test
    void shouldAskForItsRestartOnceInsteadOfEndingWithAnException() throws Exception {
        final Thread own = follow();
        doThrow(new IllegalStateException("on purpose")).when(leader).onFollowerSuccessAppendEntries(any());
        append();
        next().answer(AppendResult.SUCCESS);
        own.join(LONG_MS);
        verify(leader).restart(appender);
        assertEquals(LifeCycle.State.CLOSED, appender.stopAsync().get());
    }

    @Test
    void shouldNotAskForARestartWhenTheServerIsClosing() throws Exception {
        final Thread own = follow();
        doAnswer(call -> {
            when(server.getInfo().isAlive()).thenReturn(false);
            throw new IllegalStateException("closed");
        }).when(leader).onFollowerSuccessAppendEntries(any());
        append();
        next().answer(AppendResult.SUCCESS);
        own.join(LONG_MS);
        verify(leader, never()).restart(appender);
    }

    @Test
    void shouldSatisfyATriggeredHeartbeatOnce() throws Exception {
        final Thread own = follow();
        appender.triggerHeartbeat();
        final Sent heartbeat = next();
        assertEquals(0, heartbeat.entries());
        heartbeat.answer(AppendResult.SUCCESS);
        awaitParked(own);
        assertNull(sent.poll());
        verify(follower).updateLastRpcSendTime(true);
    }

    @Test
    void shouldReportTheRequestsAndRepliesOfItsFollower() throws Exception {
        follow();
        verify(follower).updateLastRpcSendTime(false);
        verify(follower).updateLastRpcResponseTime();
        verify(follower).updateLastRespondedAppendEntriesSendTime(any());
        forRequestThreads.poll().run();
        verify(leader).onFollowerCommitIndex(follower, 0);
        append();
        next().answer(AppendResult.INCONSISTENCY);
        next().answer(AppendResult.SUCCESS);
        verify(follower, times(3)).updateLastRpcResponseTime();
    }

    @Test
    void shouldReportALaterTermOfItsFollower() throws Exception {
        follow();
        append();
        next().answer(AppendResult.NOT_LEADER);
        verify(leader, timeout(LONG_MS)).onFollowerTerm(follower, 0);
    }

    @Test
    void shouldCompareItsRequestsByTheirNumbers() throws Exception {
        final long before = appender.getCallId();
        follow();
        assertTrue(appender.getCallIdComparator().compare(before, appender.getCallId()) < 0);
    }
}
