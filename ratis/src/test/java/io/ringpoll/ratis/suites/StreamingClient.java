package io.ringpoll.ratis.suites;

import io.ringpoll.ratis.RdmaDataStreams;
import java.io.IOException;
import org.apache.ratis.client.DataStreamClient;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientRpc;
import org.apache.ratis.client.api.AdminApi;
import org.apache.ratis.client.api.AsyncApi;
import org.apache.ratis.client.api.BlockingApi;
import org.apache.ratis.client.api.DataStreamApi;
import org.apache.ratis.client.api.GroupManagementApi;
import org.apache.ratis.client.api.LeaderElectionManagementApi;
import org.apache.ratis.client.api.MessageStreamApi;
import org.apache.ratis.client.api.SnapshotManagementApi;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;

/** A client of the engine whose streams are those of {@link RdmaDataStreams}: the suites ask the client for them. */
final class StreamingClient implements RaftClient {
    private final RaftClient client;
    private final DataStreamClient streams;

    /**
     * Owns the client.
     *
     * @param primary receives the streams
     */
    StreamingClient(final RaftClient client, final RaftPeer primary, final RaftProperties properties) {
        this.client = client;
        streams = RdmaDataStreams.newClient(client, primary, properties);
    }

    @Override
    public DataStreamApi getDataStreamApi() {
        return streams;
    }

    @Override
    public void close() throws IOException {
        streams.close();
        client.close();
    }

    @Override
    public ClientId getId() {
        return client.getId();
    }

    @Override
    public RaftGroupId getGroupId() {
        return client.getGroupId();
    }

    @Override
    public RaftPeerId getLeaderId() {
        return client.getLeaderId();
    }

    @Override
    public RaftClientRpc getClientRpc() {
        return client.getClientRpc();
    }

    @Override
    public AdminApi admin() {
        return client.admin();
    }

    @Override
    public GroupManagementApi getGroupManagementApi(final RaftPeerId server) {
        return client.getGroupManagementApi(server);
    }

    @Override
    public SnapshotManagementApi getSnapshotManagementApi() {
        return client.getSnapshotManagementApi();
    }

    @Override
    public SnapshotManagementApi getSnapshotManagementApi(final RaftPeerId server) {
        return client.getSnapshotManagementApi(server);
    }

    @Override
    public LeaderElectionManagementApi getLeaderElectionManagementApi(final RaftPeerId server) {
        return client.getLeaderElectionManagementApi(server);
    }

    @Override
    public BlockingApi io() {
        return client.io();
    }

    @Override
    public AsyncApi async() {
        return client.async();
    }

    @Override
    public MessageStreamApi getMessageStreamApi() {
        return client.getMessageStreamApi();
    }
}
