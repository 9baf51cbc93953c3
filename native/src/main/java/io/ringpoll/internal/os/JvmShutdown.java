package io.ringpoll.internal.os;

/** The end of the JVM: by a signal, {@link System#exit}, or the end of its last thread. */
public final class JvmShutdown {
    private JvmShutdown() {
    }

    /**
     * Whether the JVM shuts down. It refuses shutdown hooks then, and has no other sign.
     *
     * @return true from the begin of the shutdown on
     */
    public static boolean hasBegun() {
        final Thread probe = new Thread(() -> { });
        try {
            Runtime.getRuntime().addShutdownHook(probe);
            Runtime.getRuntime().removeShutdownHook(probe);
            return false;
        } catch (final IllegalStateException shuttingDown) {
            return true;
        }
    }
}
