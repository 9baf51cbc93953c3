package io.ringpoll.verbs;

import io.ringpoll.internal.binding.ConnectionManager;

/** Loads the libraries before a class needs them in its static initializer, where a failure could not be reported in one line. */
final class Loading {
    private Loading() {
    }

    /** Loads the device, once, and makes the first use of librdmacm. */
    static void require() {
        ConnectionManager.initialise();
    }
}
