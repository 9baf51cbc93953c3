package io.ringpoll.verify.run;

import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcUsage;



/**
 * The memory of the server for one connection: the cells of the workload, and a region without write access.
 *
 * @param cells    for writes, reads and receives
 * @param readOnly region on which a write must fail
 */
record ServerMemory(RegisteredMemory cells, RegisteredMemory readOnly) implements AutoCloseable {
    private static final int READ_ONLY_LENGTH = 4096;

    static ServerMemory allocate(final RcPeer peer, final Hello hello) {
        final int length = new ServerLayout(hello.depth(), hello.payloadBytes()).lengthBytes();
        final RegisteredMemory cells = RegisteredMemory.allocate(
            peer, length, RcUsage.WRITE_DESTINATION, RcUsage.READ_SOURCE, RcUsage.RECEIVE);
        try {
            return new ServerMemory(
                cells,
                RegisteredMemory.allocate(peer, Math.max(READ_ONLY_LENGTH, hello.payloadBytes()), RcUsage.READ_SOURCE));
        } catch (final RuntimeException failure) {
            cells.close();
            throw failure;
        }
    }

    /** The descriptors of this memory for the client. */
    Welcome welcome(final Hello.Purpose purpose) {
        final byte[] descriptor = cells.region().descriptor();
        return switch (purpose) {
            case BEYOND_REGION -> new Welcome(descriptor, cells.region().descriptorOfLength(2 * cells.region().lengthBytes()));
            case NO_RIGHTS -> new Welcome(descriptor, readOnly.region().descriptor());
            default -> new Welcome(descriptor, new byte[0]);
        };
    }

    @Override
    public void close() {
        readOnly.close();
        cells.close();
    }
}
