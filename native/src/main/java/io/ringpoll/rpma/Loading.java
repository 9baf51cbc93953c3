package io.ringpoll.rpma;

import io.ringpoll.internal.binding.ConnectionManager;
import io.ringpoll.internal.binding.Libraries;

/**
 * Loads the libraries before a class needs them in its static initializer, where a failure could not be reported in one line.
 *
 * <p>Every entry point of the binding calls {@link #require()} first.
 */
final class Loading {
    private static volatile boolean done;

    private Loading() {
    }

    /** Loads device and librpma, once, redirects librpma's log, and initialises the libraries below librpma. */
    static void require() {
        if (!done) {
            loadOnce();
        }
    }

    private static synchronized void loadOnce() {
        if (!done) {
            Libraries.current().rpma().require("rpma_peer_new");
            LogSink.install(Libraries.current());
            ConnectionManager.initialise();
            done = true;
        }
    }
}
