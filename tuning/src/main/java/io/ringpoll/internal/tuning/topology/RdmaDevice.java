package io.ringpoll.internal.tuning.topology;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * An RDMA device as exported by sysfs.
 *
 * @param name       its name, for instance {@code mlx5_0}
 * @param driver     the kernel driver, for instance {@code mlx5_core}; {@code rdma_rxe} or {@code siw} for software devices
 * @param pciAddress its PCI address; empty for a software device
 * @param node       its NUMA node; empty if the machine has one node only or the firmware does not report it
 * @param interrupts the numbers of its interrupts
 * @param ports      its ports
 * @param firmware   the firmware's version; empty for a software device
 */
public record RdmaDevice(String name, String driver, Optional<String> pciAddress, OptionalInt node, List<String> interrupts,
                         List<RdmaPort> ports, Optional<String> firmware) {
    /** Copies the lists. */
    public RdmaDevice {
        interrupts = List.copyOf(interrupts);
        ports = List.copyOf(ports);
    }

    /**
     * Whether it is implemented in software over an ordinary network interface.
     *
     * @return true for Soft-RoCE and Soft-iWARP
     */
    public boolean software() {
        return pciAddress.isEmpty();
    }
}
