package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotResult;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A leader with a log from index 10 to 20. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SnapshotSenderTest {
    private static final TermIndex FIRST = TermIndex.valueOf(3, 10);
    private static final RaftPeer PEER = RaftPeer.newBuilder().setId("s1").build();

    private final LogAppender appender = mock(LogAppender.class, RETURNS_DEEP_STUBS);
    private final FollowerInfo follower = mock(FollowerInfo.class);

    private SnapshotSender sender(final boolean sends, final long nextIndex) {
        final RaftProperties properties = new RaftProperties();
        RaftServerConfigKeys.Log.Appender.setInstallSnapshotEnabled(properties, sends);
        when(appender.getServer().getRaftServer().getProperties()).thenReturn(properties);
        when(appender.getRaftLog().getStartIndex()).thenReturn(FIRST.getIndex());
        when(appender.getRaftLog().getNextIndex()).thenReturn(20L);
        when(appender.getRaftLog().getTermIndex(FIRST.getIndex())).thenReturn(FIRST);
        when(appender.getFollower()).thenReturn(follower);
        when(appender.newInstallSnapshotNotificationRequest(FIRST)).thenReturn(InstallSnapshotRequestProto.getDefaultInstance());
        when(follower.getNextIndex()).thenReturn(nextIndex);
        when(follower.getPeer()).thenReturn(PEER);
        return new SnapshotSender(appender);
    }

    private void answer(final InstallSnapshotResult result, final long snapshotIndex) throws Exception {
        final InstallSnapshotReplyProto.Builder reply = InstallSnapshotReplyProto.newBuilder().setResult(result)
            .setServerReply(RaftRpcReplyProto.newBuilder().setSuccess(true));
        when(appender.getServerRpc().installSnapshot(any()))
            .thenReturn(snapshotIndex < 0 ? reply.build() : reply.setSnapshotIndex(snapshotIndex).build());
    }

    @Test
    void shouldNotSendASnapshotToAFollowerWithinTheLog() throws Exception {
        assertEquals(SnapshotSender.Need.ENTRIES, sender(false, 10).send(true));
        assertEquals(SnapshotSender.Need.ENTRIES, sender(false, 20).send(true));
        verify(appender.getServerRpc(), never()).installSnapshot(any());
    }

    @Test
    void shouldAnnounceTheEndOfAnEmptyLogToAFollowerThatIsBehind() throws Exception {
        final SnapshotSender sender = sender(false, 19);
        final TermIndex end = TermIndex.valueOf(7, 20);
        when(appender.getRaftLog().getStartIndex()).thenReturn(-1L);
        when(appender.getRaftLog().getTermIndex(-1)).thenReturn(null);
        when(appender.getServer().getInfo().getCurrentTerm()).thenReturn(7L);
        answer(InstallSnapshotResult.IN_PROGRESS, -1);
        assertEquals(SnapshotSender.Need.TIME, sender.send(true));
        verify(appender).newInstallSnapshotNotificationRequest(end);
        when(follower.getNextIndex()).thenReturn(20L);
        assertEquals(SnapshotSender.Need.ENTRIES, sender.send(true));
        verify(appender.getServerRpc()).installSnapshot(any());
    }

    @Test
    void shouldAnnounceTheFirstEntryToANewFollowerOnce() throws Exception {
        final SnapshotSender sender = sender(false, 10);
        when(appender.getLeaderState().isFollowerBootstrapping(follower)).thenReturn(true);
        answer(InstallSnapshotResult.SNAPSHOT_EXPIRED, -1);
        assertEquals(SnapshotSender.Need.TIME, sender.send(true));
        verify(appender).newInstallSnapshotNotificationRequest(FIRST);
        verify(follower).updateLastRpcSendTime(false);
        verify(follower).updateLastRpcResponseTime();
        verify(follower).setAttemptedToInstallSnapshot();
        when(follower.hasAttemptedToInstallSnapshot()).thenReturn(true);
        assertEquals(SnapshotSender.Need.ENTRIES, sender.send(true));
    }

    @Test
    void shouldContinueAfterASnapshotThatTheFollowerHad() throws Exception {
        final SnapshotSender sender = sender(false, 5);
        answer(InstallSnapshotResult.ALREADY_INSTALLED, 12);
        assertEquals(SnapshotSender.Need.SNAPSHOT, sender.send(true));
        verify(follower).setAttemptedToInstallSnapshot();
        verify(follower).updateNextIndex(13);
        verify(appender.getLeaderState()).onFollowerCommitIndex(follower, 12);
        verify(appender.getServer().getStateMachine().event(), never()).notifySnapshotInstalled(any(), anyLong(), any());
    }

    @Test
    void shouldNotMoveAFollowerWithAnEmptySnapshot() throws Exception {
        final SnapshotSender sender = sender(false, 5);
        answer(InstallSnapshotResult.SNAPSHOT_INSTALLED, -1);
        assertEquals(SnapshotSender.Need.SNAPSHOT, sender.send(true));
        verify(follower).setAttemptedToInstallSnapshot();
        verify(follower, never()).updateNextIndex(anyLong());
    }

    @Test
    void shouldNotifyTheStateMachineOnlyOfASnapshotThatReachesTheLog() throws Exception {
        final SnapshotSender sender = sender(false, 5);
        answer(InstallSnapshotResult.SNAPSHOT_INSTALLED, 8);
        sender.send(true);
        verify(appender.getServer().getStateMachine().event(), never()).notifySnapshotInstalled(any(), anyLong(), any());
        answer(InstallSnapshotResult.SNAPSHOT_INSTALLED, 9);
        sender.send(true);
        verify(appender.getServer().getStateMachine().event()).notifySnapshotInstalled(InstallSnapshotResult.SUCCESS, 9, PEER);
    }

    @Test
    void shouldStepDownForAFollowerOfALaterTerm() throws Exception {
        final SnapshotSender sender = sender(false, 5);
        when(appender.getServerRpc().installSnapshot(any())).thenReturn(
            InstallSnapshotReplyProto.newBuilder().setResult(InstallSnapshotResult.NOT_LEADER).setTerm(9).build());
        assertEquals(SnapshotSender.Need.TIME, sender.send(true));
        verify(appender).onFollowerTerm(9);
    }

    @Test
    void shouldStopAtAPieceThatTheFollowerHasNotInstalled() throws Exception {
        final SnapshotSender sender = sender(true, 5);
        when(appender.shouldInstallSnapshot()).thenReturn(mock(SnapshotInfo.class));
        final InstallSnapshotRequestProto piece = InstallSnapshotRequestProto.getDefaultInstance();
        when(appender.newInstallSnapshotRequests(any(), any())).thenReturn(List.of(piece, piece));
        when(appender.getServerRpc().installSnapshot(any())).thenReturn(
            InstallSnapshotReplyProto.newBuilder().setResult(InstallSnapshotResult.SUCCESS).build());
        assertEquals(SnapshotSender.Need.SNAPSHOT, sender.send(true));
        verify(appender.getServerRpc()).installSnapshot(piece);
        verify(follower, never()).setSnapshotIndex(anyLong());
        verify(follower).setAttemptedToInstallSnapshot();
    }

    @Test
    void shouldWaitForASnapshotWithoutPieces() throws Exception {
        final SnapshotSender sender = sender(true, 5);
        when(appender.shouldInstallSnapshot()).thenReturn(mock(SnapshotInfo.class));
        when(appender.newInstallSnapshotRequests(any(), any())).thenReturn(List.of());
        assertEquals(SnapshotSender.Need.TIME, sender.send(true));
        when(appender.shouldInstallSnapshot()).thenReturn(null);
        assertEquals(SnapshotSender.Need.ENTRIES, sender.send(true));
    }

    @Test
    void shouldContinueAfterASnapshotThatTheFollowerHasFetched() throws Exception {
        final SnapshotSender sender = sender(false, 5);
        answer(InstallSnapshotResult.SNAPSHOT_INSTALLED, 12);
        assertEquals(SnapshotSender.Need.SNAPSHOT, sender.send(true));
        verify(follower).setSnapshotIndex(12);
        verify(follower).updateNextIndex(13);
        verify(appender.getServer().getStateMachine().event()).notifySnapshotInstalled(InstallSnapshotResult.SUCCESS, 12, PEER);
    }

    @Test
    void shouldWaitForAFollowerThatIsFetchingASnapshot() throws Exception {
        final SnapshotSender sender = sender(false, 5);
        answer(InstallSnapshotResult.IN_PROGRESS, -1);
        assertEquals(SnapshotSender.Need.TIME, sender.send(true));
        verify(follower, never()).updateNextIndex(13);
    }

    @Test
    void shouldNotifyTheStateMachineWhenAFollowerFoundNoSnapshot() throws Exception {
        final SnapshotSender sender = sender(false, 5);
        answer(InstallSnapshotResult.SNAPSHOT_UNAVAILABLE, -1);
        assertEquals(SnapshotSender.Need.TIME, sender.send(true));
        verify(follower).setAttemptedToInstallSnapshot();
        verify(appender.getServer().getStateMachine().event())
            .notifySnapshotInstalled(InstallSnapshotResult.SNAPSHOT_UNAVAILABLE, -1, PEER);
    }

    @Test
    void shouldSendASnapshotInPieces() throws Exception {
        final SnapshotSender sender = sender(true, 5);
        final SnapshotInfo snapshot = mock(SnapshotInfo.class);
        when(snapshot.getTermIndex()).thenReturn(TermIndex.valueOf(3, 15));
        when(appender.shouldInstallSnapshot()).thenReturn(snapshot);
        final InstallSnapshotRequestProto piece = InstallSnapshotRequestProto.getDefaultInstance();
        when(appender.newInstallSnapshotRequests(any(), any())).thenReturn(List.of(piece, piece));
        answer(InstallSnapshotResult.SUCCESS, -1);
        assertEquals(SnapshotSender.Need.SNAPSHOT, sender.send(true));
        verify(appender.getServerRpc(), times(2)).installSnapshot(piece);
        verify(follower).setSnapshotIndex(15);
        verify(appender.getServer().getRaftServerMetrics()).onSnapshotInstalled();
    }
}
