package io.ringpoll.ratis;

import org.apache.ratis.client.ClientFactory;
import org.apache.ratis.client.RaftClientRpc;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppender;

/** Creates the transports of servers and clients. */
public final class RdmaFactory implements ServerFactory, ClientFactory {
    private final RdmaRpcType type;

    RdmaFactory(final RdmaRpcType type) {
        this.type = type;
    }

    @Override
    public RdmaRpcType getRpcType() {
        return type;
    }

    @Override
    public RaftServerRpc newRaftServerRpc(final RaftServer server) {
        return new RdmaServerRpc(server, type);
    }

    @Override
    public LogAppender newLogAppender(
        final RaftServer.Division server, final LeaderState leaderState, final FollowerInfo follower) {
        return new RdmaLogAppender(server, leaderState, follower);
    }

    @Override
    public RaftClientRpc newRaftClientRpc(final ClientId clientId, final RaftProperties properties) {
        return new RdmaClientRpc(clientId, properties);
    }
}
