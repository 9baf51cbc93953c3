package io.ringpoll.internal.transport;

import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.DataStreamReplyHeaderProto;
import org.apache.ratis.proto.RaftProtos.GroupInfoReplyProto;
import org.apache.ratis.proto.RaftProtos.GroupInfoRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupListReplyProto;
import org.apache.ratis.proto.RaftProtos.GroupListRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.LeaderElectionManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexReplyProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.SetConfigurationRequestProto;
import org.apache.ratis.proto.RaftProtos.SnapshotManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.proto.RaftProtos.TransferLeadershipRequestProto;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;

/** The types of requests: each has a class of request and a class of reply, which the engine defines. */
public enum MessageType {
    /** A candidate asks for a vote. */
    REQUEST_VOTE(1, RequestVoteRequestProto.parser(), RequestVoteReplyProto.parser()),
    /** A leader sends entries or a heartbeat. */
    APPEND_ENTRIES(2, AppendEntriesRequestProto.parser(), AppendEntriesReplyProto.parser()),
    /** A leader sends a piece of a snapshot. */
    INSTALL_SNAPSHOT(3, InstallSnapshotRequestProto.parser(), InstallSnapshotReplyProto.parser()),
    /** A leader transfers the leadership. */
    START_LEADER_ELECTION(4, StartLeaderElectionRequestProto.parser(), StartLeaderElectionReplyProto.parser()),
    /** A follower asks for the index that it must have applied before it serves a read. */
    READ_INDEX(5, ReadIndexRequestProto.parser(), ReadIndexReplyProto.parser()),
    /** A client writes, reads, watches or streams. */
    CLIENT_REQUEST(6, RaftClientRequestProto.parser(), RaftClientReplyProto.parser()),
    /** A client changes the members of a group. */
    SET_CONFIGURATION(7, SetConfigurationRequestProto.parser(), RaftClientReplyProto.parser()),
    /** A client adds a group to a server, or removes one. */
    GROUP_MANAGEMENT(8, GroupManagementRequestProto.parser(), RaftClientReplyProto.parser()),
    /** A client asks for a server's groups. */
    GROUP_LIST(9, GroupListRequestProto.parser(), GroupListReplyProto.parser()),
    /** A client asks about a group. */
    GROUP_INFO(10, GroupInfoRequestProto.parser(), GroupInfoReplyProto.parser()),
    /** A client asks for another leader. */
    TRANSFER_LEADERSHIP(11, TransferLeadershipRequestProto.parser(), RaftClientReplyProto.parser()),
    /** A client asks for a snapshot. */
    SNAPSHOT_MANAGEMENT(12, SnapshotManagementRequestProto.parser(), RaftClientReplyProto.parser()),
    /** A client pauses or resumes elections. */
    LEADER_ELECTION_MANAGEMENT(13, LeaderElectionManagementRequestProto.parser(), RaftClientReplyProto.parser()),
    /** A client or a server sends a {@link StreamPacket}, which has no parser. */
    DATA_STREAM(14, null, DataStreamReplyHeaderProto.parser());

    private static final MessageType[] BY_CODE = new MessageType[values().length + 1];

    static {
        for (final MessageType type : values()) {
            BY_CODE[type.code] = type;
        }
    }

    private final byte code;
    private final Parser<? extends MessageLite> request;
    private final Parser<? extends MessageLite> reply;

    MessageType(final int code, final Parser<? extends MessageLite> request, final Parser<? extends MessageLite> reply) {
        this.code = (byte) code;
        this.request = request;
        this.reply = reply;
    }

    byte code() {
        return code;
    }

    /** Whether a message of this type in a frame of a kind is a {@link StreamPacket}. */
    boolean isPacket(final byte kind) {
        return this == DATA_STREAM && kind == FrameKind.REQUEST;
    }

    /** The parser of a message of this type in a frame of a kind; null for a packet. */
    Parser<? extends MessageLite> parser(final byte kind) {
        return switch (kind) {
            case FrameKind.REQUEST -> request;
            case FrameKind.REPLY -> reply;
            case FrameKind.PROOF -> Outgoing.PROOF_PARSER;
            default -> Failures.PARSER;
        };
    }

    /** Whether only servers of a group send such requests. */
    boolean isOfServers() {
        return switch (this) {
            case REQUEST_VOTE, APPEND_ENTRIES, INSTALL_SNAPSHOT, START_LEADER_ELECTION, READ_INDEX -> true;
            default -> false;
        };
    }

    /** Whether a request must not wait behind others: a vote, or a heartbeat, which is an append without entries. */
    boolean isUrgent(final MessageLite request) {
        return switch (this) {
            case REQUEST_VOTE, START_LEADER_ELECTION -> true;
            case APPEND_ENTRIES ->
                request instanceof final AppendEntriesRequestProto append && append.getEntriesCount() == 0;
            default -> false;
        };
    }

    static MessageType of(final byte code) throws ProtocolException {
        if (code < 1 || code >= BY_CODE.length) {
            throw new ProtocolException("a message of type " + code);
        }
        return BY_CODE[code];
    }
}
