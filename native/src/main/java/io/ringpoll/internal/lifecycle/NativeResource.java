package io.ringpoll.internal.lifecycle;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/**
 * A C object that Java code closes in the right order: after its dependents.
 *
 * <p>Any thread may close it and register dependents. A close first refuses new calls and waits for calls in flight, then checks
 * for dependents, and only then clears the address. A thread that registers a dependent has entered the object; so a close either
 * finds the dependent and leaves the object open, or it was first and the other thread gets an exception. A dependent that is
 * registered from within a part of the object can be found later; the object is unusable then and must be closed again after the
 * dependent.
 */
public abstract class NativeResource extends NativeObject implements AutoCloseable {
    private static final int NAMES_SHOWN = 3;

    private final Set<NativeResource> dependents = ConcurrentHashMap.newKeySet();
    private final Set<NativeResource> dependencies = ConcurrentHashMap.newKeySet();
    /** Held by the thread that closes; others that close wait for it. */
    private final ReentrantLock closing = new ReentrantLock();
    /** The address after a close that could not finish; 0 otherwise. Guarded by {@link #closing}. */
    private long unfinishedAddress;

    /**
     * Takes an object that C has just created.
     *
     * @param name    name of the object in error messages
     * @param address of the C object
     */
    protected NativeResource(final String name, final long address) {
        super(name, address);
    }

    /**
     * Makes the Java object of an object that C has just created, which C destroys again if that fails.
     *
     * @param address      of the C object
     * @param construction makes the Java object
     * @param destruction  destroys the C object; its failure is not reported, because the first one is
     * @param <T>          the object's class
     * @return the object
     */
    protected static <T extends NativeResource> T take(
        final long address, final LongFunction<T> construction, final LongConsumer destruction) {
        try {
            return construction.apply(address);
        } catch (final RuntimeException | Error failure) {
            destruction.accept(address);
            throw failure;
        }
    }

    /**
     * Ends the C object: ends waits on it, waits for calls of other threads, frees it. A second call does nothing, unless the
     * first one could not finish; while another thread closes it, a second call waits for that. An interrupt does not end a
     * close, and stays pending.
     *
     * @throws IllegalStateException if something that needs this object is still open, or a call has not returned for 30 s: the
     *     object stays open then; or if a poll or post has not returned for 10 s: then it can be used no more, and is to be
     *     closed again
     * @throws RuntimeException      the binding's exception for the C function that frees it, if that one fails; its resources
     *                               are lost then
     */
    @Override
    public final void close() {
        closing.lock();
        try {
            final long last = surrender();
            if (last != 0) {
                try {
                    destroy(last);
                } finally {
                    release();
                }
            }
        } finally {
            closing.unlock();
        }
    }

    /**
     * Frees the C object; nobody uses it any more.
     *
     * @param lastAddress its address
     */
    protected abstract void destroy(long lastAddress);

    /**
     * Whether threads use this object between {@link HotCalls#enter()} and {@link HotMark#leave()}.
     *
     * @return true if its end must wait for them
     */
    protected boolean usedInHotCalls() {
        return false;
    }

    /**
     * Ends the objects that live and die with this one; called when no call is inside this one, and again if it threw an
     * {@link IllegalStateException}.
     */
    protected void endParts() {
    }

    /**
     * Takes the address away from everybody, for {@link #destroy} or because C takes the object over. {@link #release()} must
     * follow.
     *
     * @return the last address; 0 if another thread was faster
     * @throws IllegalStateException as {@link #close()}
     */
    protected final long surrender() {
        closing.lock();
        try {
            final long last = unfinishedAddress != 0 ? unfinishedAddress : takeFromCallers();
            if (last != 0) {
                // A call of this thread from within a part finds nothing to do.
                unfinishedAddress = 0;
                endUsers(last);
            }
            return last;
        } finally {
            closing.unlock();
        }
    }

    /** Ends calls and takes the address away; 0 if that has been done. An object with dependents stays as it is. */
    private long takeFromCallers() {
        if (isClosed()) {
            return 0;
        }
        requireNoDependents();
        if (!refuseCalls()) {
            return 0;
        }
        try {
            // A call that was inside until just now may have added one.
            requireNoDependents();
        } catch (final IllegalStateException e) {
            admitCalls();
            throw e;
        }
        return takeAddress();
    }

    /** Ends the parts, and waits until no thread is in a hot call that took the address before. */
    private void endUsers(final long last) {
        boolean finished = false;
        try {
            endParts();
            // A call that was inside a part until just now may have added one.
            requireNoDependents();
            if (usedInHotCalls()) {
                HotCalls.awaitQuiescence();
            }
            finished = true;
        } finally {
            if (!finished) {
                unfinishedAddress = last;
            }
        }
    }

    /** Lets the objects that this one needed be closed; no call is inside this one. */
    protected final void release() {
        for (final NativeResource dependency : dependencies) {
            dependency.dependents.remove(this);
        }
        dependencies.clear();
    }

    /**
     * Keeps another object open for as long as this one is. To be called while neither can be closed: by a thread that is inside
     * both, or has just created this one.
     *
     * @param other cannot be closed before this
     */
    protected final void dependsOn(final NativeResource other) {
        other.dependents.add(this);
        dependencies.add(other);
    }

    /**
     * Ends a dependency that {@link #dependsOn} registered; any thread.
     *
     * @param other the object that was passed to {@link #dependsOn}
     */
    protected final void independentOf(final NativeResource other) {
        if (dependencies.remove(other)) {
            other.dependents.remove(this);
        }
    }

    private void requireNoDependents() {
        requireNoDependentsBut(null);
    }

    /** Null if no dependent is permitted. */
    final void requireNoDependentsBut(final NativeResource permitted) {
        final List<String> names =
            dependents.stream().filter(other -> other != permitted).map(NativeResource::name).sorted().toList();
        if (!names.isEmpty()) {
            final String shown = String.join(", ", names.subList(0, Math.min(names.size(), NAMES_SHOWN)));
            throw new IllegalStateException(name() + " cannot be closed before its dependents: " + shown +
                (names.size() > NAMES_SHOWN ? " and " + (names.size() - NAMES_SHOWN) + " more" : ""));
        }
    }
}
