package io.ringpoll.ratis;

import io.ringpoll.internal.transport.MessageType;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.RaftException;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServer.Division;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.ProtoUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the sender and the destination of the requests of servers.
 * <ul>
 * <li>Every request names this server as its destination: a server at the address of another one must not acknowledge its
 *     entries.
 * <li>A member of the group or its leader asks for a read index or starts an election. The engine itself grants votes to members
 *     only.
 * <li>Entries and snapshots are taken from every server, as Raft requires: the configuration of a server that is added, or that
 *     was not running during a change, does not contain the current leader. The engine compares the terms.
 * </ul>
 *
 * <p>Thread-safe.
 */
final class ServerRequestCheck {
    private static final Logger LOG = LoggerFactory.getLogger(ServerRequestCheck.class);

    private final RaftServer server;
    private final AtomicLong refused = new AtomicLong();

    ServerRequestCheck(final RaftServer server) {
        this.server = server;
    }

    /**
     * Checks a request.
     *
     * @param type    of the request; those of clients pass
     * @param request of the type's class
     * @throws IOException if the request is refused, or the group is not here
     */
    void check(final MessageType type, final MessageLite request) throws IOException {
        switch (type) {
            case REQUEST_VOTE -> checkDestination(type, ((RequestVoteRequestProto) request).getServerRequest());
            case APPEND_ENTRIES -> checkDestination(type, ((AppendEntriesRequestProto) request).getServerRequest());
            case INSTALL_SNAPSHOT -> checkDestination(type, ((InstallSnapshotRequestProto) request).getServerRequest());
            case START_LEADER_ELECTION -> checkMember(type, ((StartLeaderElectionRequestProto) request).getServerRequest());
            case READ_INDEX -> checkMember(type, ((ReadIndexRequestProto) request).getServerRequest());
            default -> {
                return;
            }
        }
    }

    private void checkDestination(final MessageType type, final RaftRpcRequestProto header) throws RaftException {
        if (!header.getReplyId().equals(server.getId().toByteString())) {
            throw refuse(type + " for server " + header.getReplyId().toStringUtf8() + " has reached " + server.getId(), header);
        }
    }

    private void checkMember(final MessageType type, final RaftRpcRequestProto header) throws IOException {
        checkDestination(type, header);
        final RaftPeerId sender = RaftPeerId.valueOf(header.getRequestorId());
        final Division division = server.getDivision(ProtoUtils.toRaftGroupId(header.getRaftGroupId()));
        // A leader that has been removed passes its leadership on.
        if (division.getRaftConf().getPeer(sender, RaftPeerRole.FOLLOWER, RaftPeerRole.LISTENER) == null &&
            !sender.equals(division.getInfo().getLeaderId())) {
            throw refuse(type + " of a server that is not a member of " + division.getMemberId().getGroupId(), header);
        }
    }

    /** Logs the 1st, 2nd, 4th refusal and so on: a peer can repeat them at will. */
    private RaftException refuse(final String reason, final RaftRpcRequestProto header) {
        final long times = refused.incrementAndGet();
        if (Long.bitCount(times) == 1) {
            LOG.warn("{}: refused {}, from {} ({} refused)",
                server.getId(), reason, header.getRequestorId().toStringUtf8(), times);
        }
        return new RaftException(reason);
    }
}
