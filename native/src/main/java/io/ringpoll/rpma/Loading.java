package io.ringpoll.rpma;

import io.ringpoll.device.Device;

/**
 * Brings the libraries in before a class needs them in its static initializer, where a failure could not be told in one line.
 *
 * <p>Every way into the binding begins with {@link #require()}.
 */
final class Loading {
    private static volatile boolean done;

    private Loading() {
    }

    /** Loads device and librpma, once, takes over librpma's log, and initialises what librpma stands on. */
    static void require() {
        if (!done) {
            loadOnce();
        }
    }

    private static synchronized void loadOnce() {
        if (!done) {
            LogSink.install(Device.current());
            Librdmacm.initialise(Device.current().librpma());
            done = true;
        }
    }
}
