package io.ringpoll.internal.tuning.topology;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * One port of an RDMA device, as exported by sysfs.
 *
 * @param number        its number, from 1
 * @param state         the logical state, for instance {@code ACTIVE}
 * @param physicalState the state of the link, for instance {@code LinkUp}
 * @param linkLayer     {@code InfiniBand} or {@code Ethernet}
 * @param rate          the rate, for instance {@code 100 Gb/sec (4X EDR)}
 * @param netDevice     its network interface; empty if sysfs exports none
 * @param netMtuBytes   that interface's MTU
 */
public record RdmaPort(int number, String state, String physicalState, String linkLayer, String rate,
                       Optional<String> netDevice, OptionalInt netMtuBytes) {
    /**
     * Whether the port can carry traffic.
     *
     * @return true if its state is ACTIVE
     */
    public boolean active() {
        return "ACTIVE".equals(state);
    }

    /**
     * Whether the port is carried by Ethernet: RoCE, or iWARP.
     *
     * @return false for InfiniBand
     */
    public boolean ethernet() {
        return !"InfiniBand".equals(linkLayer);
    }
}
