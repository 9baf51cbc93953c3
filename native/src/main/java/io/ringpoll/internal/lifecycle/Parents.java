package io.ringpoll.internal.lifecycle;

/** Enters objects on behalf of other objects that are created from them, in packages of their own. Thread-safe. */
public final class Parents {
    private Parents() {
    }

    /**
     * Begins a call that needs an object to be open.
     *
     * @param parent the object
     * @return its address, valid until {@link #exit}
     * @throws IllegalStateException if it is closed
     */
    public static long enter(final NativeObject parent) {
        return parent.enter();
    }

    /**
     * Ends a call that {@link #enter} began.
     *
     * @param parent the object
     */
    public static void exit(final NativeObject parent) {
        parent.exit();
    }

    /**
     * Checks that an object can be closed after one of its dependents.
     *
     * @param parent the object
     * @param own    the dependent, which the caller closes first
     * @throws IllegalStateException if the object has others
     */
    public static void requireNoDependentsBut(final NativeResource parent, final NativeResource own) {
        parent.requireNoDependentsBut(own);
    }
}
