package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.ringpoll.fault.FaultInjection;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that selects a free port, when the first ones are in use. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RdmaServerPortTest {
    private static final int ATTEMPTS = 16;

    private static RdmaServerRpc anyPort() {
        final RaftProperties properties = new RaftProperties();
        RdmaConfigKeys.setServerHost(properties, TestDevice.address());
        final RaftServer server = mock(RaftServer.class);
        when(server.getId()).thenReturn(RaftPeerId.valueOf("any-port"));
        when(server.getProperties()).thenReturn(properties);
        return new RdmaServerRpc(server, new RdmaRpcType());
    }

    @Test
    void shouldTryAnotherPort() throws IOException {
        try (RdmaServerRpc rpc = anyPort(); FaultInjection faults = FaultInjection.apply(FaultPlan.parse(
            "call:rdma_listen:EADDRINUSE@1"))) {
            rpc.start();
            assertEquals(1, faults.injected(0));
            assertTrue(rpc.getInetSocketAddress().getPort() > 0);
        }
    }

    @Test
    void shouldGiveUpAfterSomeAttempts() throws IOException {
        try (RdmaServerRpc rpc = anyPort(); FaultInjection faults = FaultInjection.apply(FaultPlan.parse(
            "call:rdma_listen:EADDRINUSE@1+1"))) {
            assertThrows(IOException.class, rpc::start);
            assertEquals(ATTEMPTS, faults.injected(0));
            assertThrows(IllegalStateException.class, rpc::getInetSocketAddress);
        }
    }
}
