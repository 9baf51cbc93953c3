package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullAndEmptySource;

@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LocalDeviceTest {
    @ParameterizedTest
    @NullAndEmptySource
    void shouldFindADeviceOfThisMachineWithoutAnAddress(final String host) throws Exception {
        final LocalDevice device = LocalDevice.open(RdmaApi.RPMA, host);
        device.peer().close();
        final InetAddress address = InetAddress.getByName(device.address());
        assertNotNull(NetworkInterface.getByInetAddress(address), device.address());
        assertFalse(address.isLinkLocalAddress(), device.address());
    }

    @Test
    void shouldOpenTheDeviceOfAnAddress() throws Exception {
        final LocalDevice device = LocalDevice.open(RdmaApi.RPMA, TestDevice.address());
        device.peer().close();
        assertFalse(device.address().isEmpty());
    }

    @Test
    void shouldNameTheRemedyForAnUnknownHost() {
        final String message =
            assertThrows(IOException.class, () -> LocalDevice.open(RdmaApi.RPMA, "nowhere.invalid")).getMessage();
        assertEquals("no RDMA device for nowhere.invalid (the server's address in its group, or raft.rdma.server.host): this" +
            " machine does not know the name; use the IP address of its device", message);
    }
}
