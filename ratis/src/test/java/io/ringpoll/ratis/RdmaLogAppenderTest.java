package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.ServerNotReadyException;
import org.apache.ratis.rpc.SupportedRpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RdmaLogAppenderTest {
    private static final RaftGroupId GROUP = RaftGroupId.randomId();
    private static final String FOLLOWER = "s0";

    @TempDir
    private Path folder;
    private long callId;

    @Test
    void shouldLimitTheCommitIndexToTheComparedEntries() {
        assertEquals(-1, RdmaLogAppender.bounded(request(2, 5)).getLeaderCommit());
        assertEquals(1, RdmaLogAppender.bounded(request(2, 5, entry(2, 0), entry(2, 1))).getLeaderCommit());
        for (int commit = 0; commit < 2; commit++) {
            final AppendEntriesRequestProto upToIts = request(2, commit, entry(2, 0), entry(2, 1));
            assertSame(upToIts, RdmaLogAppender.bounded(upToIts));
        }
        final AppendEntriesRequestProto compared =
            request(2, 5).toBuilder().setPreviousLog(TermIndexProto.newBuilder().setTerm(2).setIndex(3)).build();
        assertSame(compared, RdmaLogAppender.bounded(compared));
    }

    @Test
    void shouldShortenARequestToALength() {
        final AppendEntriesRequestProto three =
            request(2, 5, entry(2, 0), entry(2, 1), entry(2, 2)).toBuilder().setLeaderCommit(1).build();
        final int length = three.getSerializedSize();
        assertSame(three, RdmaLogAppender.shortened(three, length));
        final AppendEntriesRequestProto two = RdmaLogAppender.shortened(three, length - 1);
        assertEquals(three.getEntriesList().subList(0, 2), two.getEntriesList());
        assertEquals(1, two.getLeaderCommit());
        assertSame(two, RdmaLogAppender.shortened(two, two.getSerializedSize()));
        // The last entry must be compared before it is committed; a single entry is never removed.
        final AppendEntriesRequestProto one = RdmaLogAppender.shortened(three, 1);
        assertEquals(three.getEntriesList().subList(0, 1), one.getEntriesList());
        assertEquals(0, one.getLeaderCommit());
        assertSame(one, RdmaLogAppender.shortened(one, 1));
    }

    /** The engine's follower with the first entry of a leader that was replaced before the entry was committed. */
    @Test
    void shouldLetAFollowerAcceptTheNewLeadersFirstEntryAfterAHeartbeat() throws Exception {
        try (RaftServer follower = follower()) {
            assertEquals(AppendResult.SUCCESS, append(follower, request(1, -1, entry(1, 0))));
            // The heartbeat of a leader that has found out that it must restart at the beginning.
            assertEquals(AppendResult.SUCCESS, append(follower, RdmaLogAppender.bounded(request(2, 0))));
            assertEquals(AppendResult.SUCCESS, append(follower, RdmaLogAppender.bounded(request(2, 0, entry(2, 0)))));
            assertEquals(2, follower.getDivision(GROUP).getRaftLog().getTermIndex(0).getTerm());
        }
    }

    private RaftServer follower() throws Exception {
        final RaftProperties properties = new RaftProperties();
        RaftConfigKeys.Rpc.setType(properties, SupportedRpcType.NETTY);
        RaftServerConfigKeys.setStorageDir(properties, List.of(folder.toFile()));
        // No election interferes.
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, TimeDuration.valueOf(100, TimeUnit.SECONDS));
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, TimeDuration.valueOf(200, TimeUnit.SECONDS));
        final RaftPeer self = RaftPeer.newBuilder().setId(FOLLOWER).build();
        final RaftPeer other = RaftPeer.newBuilder().setId("s1").build();
        final RaftServer server = RaftServer.newBuilder().setServerId(self.getId()).setProperties(properties)
            .setGroup(RaftGroup.valueOf(GROUP, self, other)).setStateMachine(new BaseStateMachine()).build();
        server.start();
        return server;
    }

    private static AppendResult append(final RaftServer follower, final AppendEntriesRequestProto request) throws Exception {
        while (true) {
            try {
                return follower.appendEntries(request).getResult();
            } catch (final ServerNotReadyException e) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
    }

    private AppendEntriesRequestProto request(final long term, final long commit, final LogEntryProto... entries) {
        return AppendEntriesRequestProto.newBuilder().setServerRequest(RaftRpcRequestProto.newBuilder()
            .setRequestorId(RaftPeerId.valueOf("s1").toByteString()).setReplyId(RaftPeerId.valueOf(FOLLOWER).toByteString())
            .setRaftGroupId(RaftGroupIdProto.newBuilder().setId(GROUP.toByteString())).setCallId(callId++))
            .setLeaderTerm(term).setLeaderCommit(commit).addAllEntries(List.of(entries)).build();
    }

    private static LogEntryProto entry(final long term, final long index) {
        return LogEntryProto.newBuilder().setTerm(term).setIndex(index).setStateMachineLogEntry(
            StateMachineLogEntryProto.newBuilder().setClientId(ClientId.randomId().toByteString())
                .setLogData(ByteString.copyFromUtf8("entry"))).build();
    }
}
