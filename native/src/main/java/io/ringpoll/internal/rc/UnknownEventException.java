package io.ringpoll.internal.rc;

import io.ringpoll.completion.RdmaException;

/** An event of a connection that is not about the connection itself, such as a changed address of the device. */
public final class UnknownEventException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /** Of a binding that returns such an event. */
    UnknownEventException(final String name, final String event) {
        super(text(name, event), "rdma_get_cm_event", 0);
    }

    /** Of a binding that reports it as a failure. */
    UnknownEventException(final String name, final RdmaException cause) {
        super(text(name, cause.getMessage()), cause.function(), cause.errno());
        initCause(cause);
    }

    private static String text(final String name, final String event) {
        return "an event of " + name + " that is not about it: " + event;
    }
}
