package io.ringpoll.testing;

import io.ringpoll.completion.VerbsContext;
import io.ringpoll.internal.access.VerbsAccess;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Changes the transport type that the loopback device reports. */
public final class TransportType {
    private static final int DEVICE_OFFSET = 0;
    private static final int TRANSPORT_OFFSET = 20;
    private static final int IWARP = 1;

    private TransportType() {
    }

    /** While the action runs, the device is one of iWARP. */
    @SuppressWarnings("restricted")
    public static void whileIwarp(final VerbsContext context, final Runnable action) {
        final MemorySegment device = MemorySegment.ofAddress(VerbsAccess.address(context) + DEVICE_OFFSET)
            .reinterpret(ValueLayout.ADDRESS.byteSize()).get(ValueLayout.ADDRESS, 0)
            .reinterpret(TRANSPORT_OFFSET + Integer.BYTES);
        final int before = device.get(ValueLayout.JAVA_INT, TRANSPORT_OFFSET);
        device.set(ValueLayout.JAVA_INT, TRANSPORT_OFFSET, IWARP);
        try {
            action.run();
        } finally {
            device.set(ValueLayout.JAVA_INT, TRANSPORT_OFFSET, before);
        }
    }
}
