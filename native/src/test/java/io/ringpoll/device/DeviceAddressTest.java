package io.ringpoll.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The address of a machine's RDMA device, by its file tree and the addresses of its network interfaces. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class DeviceAddressTest {
    @TempDir
    private Path sysClass;

    private final Map<String, List<InetAddress>> interfaces = new HashMap<>();

    @Test
    void shouldTakeTheAddressOfTheInterfaceThatCarriesThePort() {
        roce("rxe0", "ACTIVE", "eth0", "fe80::1", "2001:db8::1", "192.0.2.1");
        final DeviceAddress address = find();
        assertEquals("192.0.2.1", address.host());
        assertEquals("address: 192.0.2.1 (rxe0 port 1, interface eth0)", address.description());
    }

    @Test
    void shouldReadTheAddressesOfAnInterface() throws UnknownHostException {
        assertTrue(DeviceAddress.ofInterface("lo").contains(InetAddress.getByName("127.0.0.1")));
        assertEquals(List.of(), DeviceAddress.ofInterface("no-such-one"));
    }

    @Test
    void shouldTakeTheFirstActivePortAndNameTheOthers() {
        roce("mlx5_0", "DOWN", "eth0", "192.0.2.1");
        roce("mlx5_10", "ACTIVE", "eth3", "192.0.2.4");
        roce("mlx5_1", "ACTIVE", "eth1");
        roce("mlx5_2", "ACTIVE", "eth2", "192.0.2.3");
        assertEquals("address: 192.0.2.3 (mlx5_2 port 1, interface eth2); others: 192.0.2.4 (mlx5_10 port 1, interface eth3)",
            find().description());
    }

    @Test
    void shouldTakeAnIpv6AddressWhereThereIsNoOther() {
        roce("rxe0", "ACTIVE", "eth0", "fe80::1", "2001:db8::1");
        assertEquals("2001:db8:0:0:0:0:0:1", find().host());
    }

    @Test
    void shouldTakeAddressesThatTheGidTableHoldsOnly() {
        roce("rxe0", "ACTIVE", "eth0", "192.0.2.7");
        interfaces.put("eth0", addresses("192.0.2.1", "192.0.2.7"));
        assertEquals("192.0.2.7", find().host());
        interfaces.put("eth0", addresses("192.0.2.1"));
        assertRefused("rxe0 port 1 has none of the addresses of its interface eth0 in its GID table " +
            "(set the interface down and up again, or use its network namespace)");
    }

    @Test
    void shouldTakeTheAddressOfIpOverInfiniBandByItsPort() {
        write("mlx5_0/node_type", "1: CA");
        for (final int port : List.of(1, 2)) {
            write("mlx5_0/ports/" + port + "/state", "4: ACTIVE");
            write("mlx5_0/ports/" + port + "/link_layer", "InfiniBand");
            write("mlx5_0/ports/" + port + "/gids/0", "fe80:0000:0000:0000:506b:4b03:00a4:b7c" + port);
            write("mlx5_0/device/net/ib" + (port - 1) + "/dev_port", Integer.toString(port - 1));
            write("mlx5_0/device/net/ib" + (port - 1) + "/dev_id", "0x0");
        }
        interfaces.put("ib1", addresses("192.0.2.9"));
        assertEquals("address: 192.0.2.9 (mlx5_0 port 2, interface ib1)", find().description());
    }

    @Test
    void shouldFindThePortOfAnInterfaceByItsOlderFile() {
        write("mlx4_0/ports/2/state", "4: ACTIVE");
        write("mlx4_0/ports/2/link_layer", "InfiniBand");
        write("mlx4_0/device/net/ib0/dev_id", "0x0");
        write("mlx4_0/device/net/ib1/dev_id", "0x1");
        interfaces.put("ib0", addresses("192.0.2.1"));
        interfaces.put("ib1", addresses("192.0.2.2"));
        assertEquals("192.0.2.2", find().host());
    }

    @Test
    void shouldTakeTheInterfacesAddressWhereGidsHoldNone() {
        write("siw0/node_type", "4: RNIC");
        write("siw0/parent", "eth0");
        write("siw0/ports/1/state", "4: ACTIVE");
        write("siw0/ports/1/link_layer", "Ethernet");
        write("siw0/ports/1/gids/0", "5254:0012:3456:0000:0000:0000:0000:0000");
        interfaces.put("eth0", addresses("192.0.2.1"));
        assertEquals("192.0.2.1", find().host());
    }

    @Test
    void shouldReportForEachPortWhyItCannotBeUsed() {
        roce("rxe0", "DOWN", "eth0", "192.0.2.1");
        roce("rxe1", "ACTIVE", "eth1");
        roce("rxe2", "ACTIVE", "eth2", "fe80::1");
        assertRefused("rxe0 port 1 is DOWN (ip link set eth0 up); " +
            "rxe1 port 1 has no IP address on its interface eth1 (ip address add ADDRESS/PREFIX dev eth1); " +
            "rxe2 port 1 has no other than a link-local IP address on its interface eth2 " +
            "(ip address add ADDRESS/PREFIX dev eth2)");
    }

    @Test
    void shouldReportWhatAnInfiniBandPortLacks() {
        write("mlx5_0/ports/1/state", "2: INIT");
        write("mlx5_0/ports/1/link_layer", "InfiniBand");
        write("mlx5_1/ports/1/state", "4: ACTIVE");
        write("mlx5_1/ports/1/link_layer", "InfiniBand");
        assertRefused("mlx5_0 port 1 is INIT (check the cable and the subnet manager); " +
            "mlx5_1 port 1 has no network interface (load the module ib_ipoib)");
    }

    @Test
    void shouldReportThatThereIsNoPort() throws IOException {
        Files.createDirectory(sysClass.resolve("rxe0"));
        assertRefused("there is no port");
    }

    private DeviceAddress find() {
        return DeviceAddress.of(sysClass, name -> interfaces.getOrDefault(name, List.of()));
    }

    private void assertRefused(final String reason) {
        final DeviceException refused = assertThrows(DeviceException.class, this::find);
        assertEquals("no port of an RDMA device has an address to connect by: " + reason + "; or choose the device loopback",
            refused.getMessage());
    }

    /** A device with one port, as the kernel shows Soft-RoCE and RoCE cards. */
    private void roce(final String device, final String state, final String net, final String... addresses) {
        write(device + "/node_type", "1: CA");
        write(device + "/ports/1/state", ("ACTIVE".equals(state) ? "4: " : "1: ") + state);
        write(device + "/ports/1/link_layer", "Ethernet");
        write(device + "/ports/1/gid_attrs/ndevs/0", net);
        write(device + "/ports/1/gids/0", "fe80:0000:0000:0000:f4a6:6aff:fe3e:0da0");
        int index = 1;
        for (final InetAddress address : addresses(addresses)) {
            write(device + "/ports/1/gid_attrs/ndevs/" + index, net);
            write(device + "/ports/1/gids/" + index++, gid(address));
        }
        // Entries that are not in use, of which the kernel names no interface.
        write(device + "/ports/1/gid_attrs/ndevs/" + index, "unused0");
        write(device + "/ports/1/gids/" + index, "0000:0000:0000:0000:0000:0000:0000:0000");
        interfaces.put(net, addresses(addresses));
    }

    private static String gid(final InetAddress address) {
        final byte[] bytes = address.getAddress();
        return bytes.length > 4 ? address.getHostAddress() :
            String.format("0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", bytes[0], bytes[1], bytes[2], bytes[3]);
    }

    private static List<InetAddress> addresses(final String... texts) {
        final List<InetAddress> addresses = new ArrayList<>();
        for (final String text : texts) {
            try {
                addresses.add(InetAddress.getByName(text));
            } catch (final UnknownHostException e) {
                throw new AssertionError(e);
            }
        }
        return addresses;
    }

    private void write(final String path, final String text) {
        try {
            final Path file = sysClass.resolve(path);
            Files.createDirectories(file.getParent());
            Files.writeString(file, text + "\n");
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
