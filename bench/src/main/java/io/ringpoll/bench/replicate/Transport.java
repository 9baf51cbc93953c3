package io.ringpoll.bench.replicate;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.os.Errno;
import io.ringpoll.ratis.RdmaConfigKeys;
import io.ringpoll.ratis.RdmaDataStreams;
import io.ringpoll.ratis.RdmaRpcType;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.DataStreamClient;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.datastream.SupportedDataStreamType;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.netty.NettyConfigKeys;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.rpc.SupportedRpcType;

/** The transport of the messages of the engine. */
public enum Transport {
    /** RDMA through ringpoll. */
    RINGPOLL(new RdmaRpcType()) {
        @Override
        void listen(final RaftProperties properties, final String address, final int port) {
            RdmaConfigKeys.setServerHost(properties, address);
            RdmaConfigKeys.setServerPort(properties, port);
            properties.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
        }

        @Override
        int freePort(final String address, final RdmaApi api) throws IOException {
            // The device has ports of its own.
            try (RcPeer peer = api.ofLocal(address)) {
                return firstFree(port -> isFree(peer, address, port));
            }
        }

        private static boolean isFree(final RcPeer peer, final String address, final int port) {
            try (RcListener listener = peer.listen(address, port)) {
                return listener.port() == port;
            } catch (final RdmaException e) {
                if (e.errno() == Errno.EADDRINUSE) {
                    return false;
                }
                throw e;
            }
        }

        @Override
        void listenForStreams(final RaftProperties properties, final String address, final int port) {
            // Streams have no address of their own.
        }

        @Override
        DataStreamClient streams(final RaftClient client, final RaftPeer primary, final RaftProperties properties) {
            return RdmaDataStreams.newClient(client, primary, properties);
        }
    },
    /** TCP through the engine's Netty transport. */
    NETTY(SupportedRpcType.NETTY) {
        @Override
        void listen(final RaftProperties properties, final String address, final int port) {
            NettyConfigKeys.Server.setHost(properties, address);
            NettyConfigKeys.Server.setPort(properties, port);
        }
    },
    /** TCP through the engine's gRPC transport. */
    GRPC(SupportedRpcType.GRPC) {
        @Override
        void listen(final RaftProperties properties, final String address, final int port) {
            GrpcConfigKeys.Server.setHost(properties, address);
            GrpcConfigKeys.Server.setPort(properties, port);
        }
    };

    private static final int FIRST_PORT = 10_000;
    private static final int PORTS = 20_000;
    private static final int PORT_ATTEMPTS = 100;

    private final RpcType type;

    Transport(final RpcType type) {
        this.type = type;
    }

    /** Sets the transport of servers and clients. */
    void choose(final RaftProperties properties) {
        RaftConfigKeys.Rpc.setType(properties, type);
    }

    /** Sets the address of a server for data streams: the engine's transport for them, which Netty and gRPC share. */
    void listenForStreams(final RaftProperties properties, final String address, final int port) {
        RaftConfigKeys.DataStream.setType(properties, SupportedDataStreamType.NETTY);
        NettyConfigKeys.DataStream.setHost(properties, address);
        NettyConfigKeys.DataStream.setPort(properties, port);
    }

    /** A client for data streams. */
    DataStreamClient streams(final RaftClient client, final RaftPeer primary, final RaftProperties properties) {
        RaftConfigKeys.DataStream.setType(properties, SupportedDataStreamType.NETTY);
        return DataStreamClient.newBuilder(client).setDataStreamServer(primary).setProperties(properties).build();
    }

    /**
     * A port of an address that no server listens on, below those that the system gives to clients: the first servers connect to
     * the others before these listen, and such a connection can take the port.
     */
    int freePort(final String address, final RdmaApi api) throws IOException {
        final InetAddress host = InetAddress.getByName(address);
        return firstFree(port -> {
            try (ServerSocket socket = new ServerSocket(port, 1, host)) {
                return socket.getLocalPort() == port;
            } catch (final BindException e) {
                return false;
            }
        });
    }

    /** A number of different free ports: two servers could get the same one otherwise. */
    List<Integer> freePorts(final String address, final RdmaApi api, final int count) throws IOException {
        final Set<Integer> ports = new LinkedHashSet<>();
        while (ports.size() < count) {
            ports.add(freePort(address, api));
        }
        return List.copyOf(ports);
    }

    /** Whether a server can listen on a port. */
    @FunctionalInterface
    private interface PortTest {
        boolean isFree(int port) throws IOException;
    }

    private static int firstFree(final PortTest test) throws IOException {
        for (int attempt = 0; attempt < PORT_ATTEMPTS; attempt++) {
            final int port = FIRST_PORT + ThreadLocalRandom.current().nextInt(PORTS);
            if (test.isFree(port)) {
                return port;
            }
        }
        throw new BindException("no free port from " + FIRST_PORT + " to " + (FIRST_PORT + PORTS - 1) + " in " + PORT_ATTEMPTS +
            " attempts");
    }

    /** Sets the address of a server. */
    abstract void listen(RaftProperties properties, String address, int port);

    @Override
    public String toString() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
