package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.rpc.SupportedRpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The transport as the engine finds and creates it. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RdmaFactoryTest {
    private final RaftProperties properties = new RaftProperties();
    private final RdmaRpcType type = new RdmaRpcType();
    private final RdmaFactory factory = type.newFactory(new Parameters());

    @Test
    void shouldBeFoundByItsNameInTheSettings() {
        RaftConfigKeys.Rpc.setType(properties, type);
        final RpcType found = RaftConfigKeys.Rpc.type(properties, message -> { });
        assertInstanceOf(RdmaRpcType.class, found);
        assertEquals(RdmaRpcType.class.getName(), found.name());
        assertEquals("RDMA", found.toString());
    }

    @Test
    void shouldEqualItsOwnKindOnly() {
        assertEquals(type, new RdmaRpcType());
        assertEquals(type.hashCode(), new RdmaRpcType().hashCode());
        assertNotEquals(0, type.hashCode());
        assertNotEquals(type, SupportedRpcType.NETTY);
        assertSame(type, factory.getRpcType());
    }

    @Test
    void shouldCreateTheTransports() throws IOException {
        final RaftServer server = mock(RaftServer.class);
        when(server.getId()).thenReturn(RaftPeerId.valueOf("created"));
        when(server.getProperties()).thenReturn(properties);
        final RdmaServerRpc rpc = assertInstanceOf(RdmaServerRpc.class, factory.newRaftServerRpc(server));
        assertSame(type, rpc.getRpcType());
        final RaftServer.Division division = mock(RaftServer.Division.class, RETURNS_DEEP_STUBS);
        when(division.getRaftServer().getProperties()).thenReturn(properties);
        when(division.getRaftServer().getServerRpc()).thenReturn(rpc);
        when(division.getThreadGroup()).thenReturn(null);
        assertInstanceOf(RdmaLogAppender.class,
            factory.newLogAppender(division, mock(LeaderState.class), mock(FollowerInfo.class)));
        factory.newRaftClientRpc(ClientId.randomId(), properties).close();
        rpc.close();
    }

    @Test
    void shouldHaveTheConfiguredAddressBeforeTheStart() throws IOException {
        final RaftServer server = mock(RaftServer.class);
        when(server.getId()).thenReturn(RaftPeerId.valueOf("addressed"));
        when(server.getProperties()).thenReturn(properties);
        RdmaConfigKeys.setServerPort(properties, 7000);
        final RdmaServerRpc anyHost = new RdmaServerRpc(server, type);
        assertEquals(new InetSocketAddress(7000), anyHost.getInetSocketAddress());
        RdmaConfigKeys.setServerHost(properties, "127.0.0.1");
        final RdmaServerRpc oneHost = new RdmaServerRpc(server, type);
        assertEquals(new InetSocketAddress("127.0.0.1", 7000), oneHost.getInetSocketAddress());
        assertEquals("addressed on /127.0.0.1:7000", oneHost.toString());
        assertSame(oneHost, oneHost.async());
        anyHost.close();
        oneHost.close();
    }
}
