package io.ringpoll.ratis;

import org.apache.ratis.client.DataStreamClient;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftPeer;

/**
 * Creates clients for data streams over RDMA. The engine's {@code raft.datastream.type} accepts its own types only, so
 * {@link RaftClient#getDataStreamApi()} cannot use this transport; a client of this class takes its place. Servers need no
 * setting: their addresses for streams are those for all other requests.
 */
public final class RdmaDataStreams {
    private RdmaDataStreams() {
    }

    /**
     * Creates a client for streams. It uses the device of another client, and a connection of its own.
     *
     * @param client     over this transport; sends the log entry at the close of a stream. Close it after the returned one.
     * @param primary    receives the data and forwards it to the other servers
     * @param properties of the client
     * @return a client for streams, to be closed
     * @throws IllegalArgumentException if the client has another transport
     */
    public static DataStreamClient newClient(final RaftClient client, final RaftPeer primary, final RaftProperties properties) {
        if (!(client.getClientRpc() instanceof final RdmaClientRpc rpc)) {
            throw new IllegalArgumentException("the client's transport is " + client.getClientRpc().getClass().getName() +
                ": set raft.rpc.type = " + RdmaRpcType.class.getName());
        }
        return DataStreamClient.newBuilder(client).setDataStreamServer(primary).setProperties(properties)
            .setDataStreamClientRpc(rpc.streamsTo(primary, client.getGroupId(), properties)).build();
    }
}
