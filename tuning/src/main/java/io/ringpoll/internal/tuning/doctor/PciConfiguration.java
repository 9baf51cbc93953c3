package io.ringpoll.internal.tuning.doctor;

import io.ringpoll.internal.tuning.topology.Reading;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The Device Control register of a PCI Express function, from its configuration space in sysfs.
 *
 * <p>Without root the kernel returns the first 64 bytes only, which do not contain the register.
 *
 * @param maxReadRequestBytes the largest read that the function requests
 * @param relaxedOrdering     whether the function may set the attribute for relaxed ordering
 * @see <a href="https://docs.kernel.org/PCI/sysfs-pci.html">accessing PCI device resources through sysfs</a>
 */
record PciConfiguration(int maxReadRequestBytes, boolean relaxedOrdering) {
    private static final int STATUS = 0x06;
    private static final int CAPABILITY_LIST = 0x10;
    private static final int FIRST_CAPABILITY = 0x34;
    private static final int PCI_EXPRESS = 0x10;
    private static final int DEVICE_CONTROL = 8;
    private static final int RELAXED_ORDERING = 1 << 4;
    /** No list is longer: each capability has at least four bytes behind the header. */
    private static final int MOST_CAPABILITIES = 48;

    /** Parses the file {@code config}; empty if it does not contain the register. */
    static Optional<PciConfiguration> of(final Reading file) {
        final byte[] bytes = file.text().getBytes(StandardCharsets.ISO_8859_1);
        if (bytes.length <= FIRST_CAPABILITY || (bytes[STATUS] & CAPABILITY_LIST) == 0) {
            return Optional.empty();
        }
        int offset = bytes[FIRST_CAPABILITY] & 0xFC;
        for (int i = 0; i < MOST_CAPABILITIES && offset != 0 && offset + DEVICE_CONTROL + 1 < bytes.length; i++) {
            if (bytes[offset] == PCI_EXPRESS) {
                final int control = bytes[offset + DEVICE_CONTROL] & 0xFF | (bytes[offset + DEVICE_CONTROL + 1] & 0xFF) << 8;
                return Optional.of(new PciConfiguration(128 << (control >> 12 & 7), (control & RELAXED_ORDERING) != 0));
            }
            offset = bytes[offset + 1] & 0xFC;
        }
        return Optional.empty();
    }
}
