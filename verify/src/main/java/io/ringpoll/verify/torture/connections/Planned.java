package io.ringpoll.verify.torture.connections;

/** Thrown by a callback or a task of a scene. */
final class Planned extends Exception {
    private static final long serialVersionUID = 1L;

    Planned() {
        super("planned", null, false, false);
    }
}
