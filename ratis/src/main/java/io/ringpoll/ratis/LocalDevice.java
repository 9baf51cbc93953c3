package io.ringpoll.ratis;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * The RDMA device of a server, opened by one of its addresses.
 *
 * @param peer    the device
 * @param address by which it was opened
 */
record LocalDevice(RcPeer peer, String address) {
    /**
     * Opens a device.
     *
     * @param api  the binding that opens it
     * @param host its address; null for the first interface with an RDMA device
     */
    static LocalDevice open(final RdmaApi api, final String host) throws IOException {
        if (host != null && !host.isEmpty()) {
            try {
                final String address = InetAddress.getByName(host).getHostAddress();
                return new LocalDevice(api.ofLocal(address), address);
            } catch (final UnknownHostException e) {
                throw new IOException("no RDMA device for " + named(host) + ": this machine does not know the name; use the IP" +
                    " address of its device", e);
            } catch (final RdmaException | IllegalStateException e) {
                throw new IOException("no RDMA device for " + named(host) + ": " + e.getMessage(), e);
            }
        }
        for (final InetAddress candidate : addresses()) {
            final String address = candidate.getHostAddress();
            try {
                return new LocalDevice(api.ofLocal(address), address);
            } catch (final RdmaException | IllegalStateException e) {
                // This interface has no RDMA device: try the next one.
                continue;
            }
        }
        throw new IOException("no interface of this machine belongs to an RDMA device ('rdma link' lists them); set " +
            RdmaConfigKeys.SERVER_HOST_KEY);
    }

    private static String named(final String host) {
        return host + " (the server's address in its group, or " + RdmaConfigKeys.SERVER_HOST_KEY + ")";
    }

    private static List<InetAddress> addresses() throws IOException {
        final List<InetAddress> addresses = new ArrayList<>();
        for (final NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            addresses.addAll(Collections.list(each.getInetAddresses()));
        }
        addresses.removeIf(InetAddress::isLinkLocalAddress);
        addresses.sort(Comparator.comparing(InetAddress::isLoopbackAddress).thenComparing(each -> each.getAddress().length));
        return addresses;
    }
}
