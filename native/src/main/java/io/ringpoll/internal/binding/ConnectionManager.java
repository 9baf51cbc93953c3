package io.ringpoll.internal.binding;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/**
 * librdmacm, the connection manager. It is thread-safe but for its first use: rdma-core's {@code ucma_init} looks outside its
 * lock at the list of devices, and takes the library for initialised while another thread is still at it.
 */
public final class ConnectionManager {
    private static boolean initialised;

    private ConnectionManager() {
    }

    /**
     * Whether the first use has been made.
     *
     * @return true from the return of {@link #initialise()} on
     */
    public static synchronized boolean isInitialised() {
        return initialised;
    }

    /**
     * Makes the first use, by one thread: creates an event channel and destroys it. A failure shows again at the next use.
     *
     * @throws io.ringpoll.device.DeviceException as {@link Libraries#current()} does
     */
    public static synchronized void initialise() {
        if (initialised) {
            return;
        }
        final NativeLibrary library = Libraries.current().rdmacm();
        final MethodHandle create = library.plain("rdma_create_event_channel", FunctionDescriptor.of(JAVA_LONG));
        final MethodHandle destroy = library.plain("rdma_destroy_event_channel", FunctionDescriptor.ofVoid(JAVA_LONG));
        try {
            final long channel = (long) create.invokeExact();
            if (channel != 0) {
                destroy.invokeExact(channel);
            }
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
        initialised = true;
    }
}
