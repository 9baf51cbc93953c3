package io.ringpoll.bench.replicate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.internal.rc.RdmaApi;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TransportTest {
    private static final Path CLIENT_PORTS = Path.of("/proc/sys/net/ipv4/ip_local_port_range");

    @ParameterizedTest
    @EnumSource(names = {"NETTY", "GRPC"})
    void shouldSelectPortsThatTheSystemGivesToNoClient(final Transport transport) throws Exception {
        // In one read: the second read of such a file finds its end.
        final int first = Integer.parseInt(Files.readAllLines(CLIENT_PORTS).getFirst().split("\\s+")[0]);
        assumeTrue(first >= 30_000, "the system gives lower ports to clients, from " + first);
        for (int i = 0; i < 100; i++) {
            final int port = transport.freePort("127.0.0.1", RdmaApi.RPMA);
            assertTrue(port >= 1024 && port < first, "port " + port);
        }
    }

    /** Of so many, some would be equal otherwise. */
    @ParameterizedTest
    @EnumSource(names = {"NETTY", "GRPC"})
    void shouldSelectDifferentPortsForTheServersOfAGroup(final Transport transport) throws Exception {
        assertEquals(1000, Set.copyOf(transport.freePorts("127.0.0.1", RdmaApi.RPMA, 1000)).size());
    }
}
