package io.ringpoll.internal.lifecycle;

/** The object that frees a C struct which others use by its address. Thread-safe. */
public final class Owner {
    /** Of structs that live as long as the process. */
    public static final Owner PROCESS = new Owner(null);

    private final NativeResource resource;

    private Owner(final NativeResource resource) {
        this.resource = resource;
    }

    /**
     * An owner that can be closed.
     *
     * @param resource frees the struct when it is closed
     * @return for the users of the struct
     */
    public static Owner of(final NativeResource resource) {
        return new Owner(resource);
    }

    /**
     * Whether the struct lives as long as the process.
     *
     * @return false if it has a resource
     */
    public boolean isProcess() {
        return resource == null;
    }

    /**
     * Begins a call with the struct.
     *
     * @throws IllegalStateException if the resource is closed
     */
    public void enter() {
        if (resource != null) {
            resource.enter();
        }
    }

    /** Ends a call that {@link #enter()} began. */
    public void exit() {
        if (resource != null) {
            resource.exit();
        }
    }

    /**
     * Keeps the struct as long as its user; called by a thread that has entered.
     *
     * @param user closed before the resource
     */
    public void keepFor(final NativeResource user) {
        if (resource != null) {
            user.dependsOn(resource);
        }
    }
}
