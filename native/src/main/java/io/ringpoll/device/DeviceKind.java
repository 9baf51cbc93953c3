package io.ringpoll.device;

import java.util.Locale;

/** Kinds of RDMA device of a process. */
public enum DeviceKind {
    /** The machine's RDMA device if it has one, else the loopback device. */
    AUTO,
    /** The loopback device: in user space, in this process; for first runs, tests and benchmarks. */
    LOOPBACK,
    /** The machine's RDMA device: a card, or the kernel's Soft-RoCE. */
    RDMA;

    /**
     * Reads a kind as users write it.
     *
     * @param text {@code auto}, {@code loopback} or {@code rdma}, in any case
     * @return the kind
     * @throws DeviceException if the text is none of them
     */
    public static DeviceKind parse(final String text) {
        for (final DeviceKind kind : values()) {
            if (kind.toString().equals(text.toLowerCase(Locale.ROOT))) {
                return kind;
            }
        }
        throw new DeviceException("unknown device '" + text + "'; choose auto, loopback or rdma");
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
