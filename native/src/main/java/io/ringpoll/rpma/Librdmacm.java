package io.ringpoll.rpma;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/**
 * The connection manager below librpma. It is thread-safe but for its first use: rdma-core's {@code ucma_init} looks outside its
 * lock at the list of devices, and takes the library for initialised while another thread is still at it.
 */
final class Librdmacm {
    private Librdmacm() {
    }

    /** Makes the first use, by one thread: creates an event channel and destroys it. A failure shows again at the next use. */
    static void initialise(final NativeLibrary librpma) {
        // Found through librpma, which depends on it.
        if (!librpma.has("rdma_create_event_channel") || !librpma.has("rdma_destroy_event_channel")) {
            return;
        }
        final MethodHandle create = librpma.plain("rdma_create_event_channel", FunctionDescriptor.of(JAVA_LONG));
        final MethodHandle destroy = librpma.plain("rdma_destroy_event_channel", FunctionDescriptor.ofVoid(JAVA_LONG));
        try {
            final long channel = (long) create.invokeExact();
            if (channel != 0) {
                destroy.invokeExact(channel);
            }
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
