package io.ringpoll.lifecycle;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A C object that Java code closes, in the right order: not before what was made of it.
 */
public abstract class NativeResource extends NativeObject implements AutoCloseable {
    private static final int NAMES_SHOWN = 3;

    private final Set<NativeResource> dependents = ConcurrentHashMap.newKeySet();
    private final List<NativeResource> dependencies = new ArrayList<>(2);
    /** The address, after an end that could not be brought to its end; 0 otherwise. */
    private long unfinishedAddress;

    /**
     * Takes an object that C has just created.
     *
     * @param name    what it is, for error messages
     * @param address of the C object
     */
    protected NativeResource(final String name, final long address) {
        super(name, address);
    }

    /**
     * Ends the C object: ends waits on it, waits for calls of other threads, frees it. A second call does nothing, unless the
     * first one could not finish.
     *
     * @throws IllegalStateException if something that needs this object is still open, or a call has not returned for 30 s: the
     *     object stays open then; or if a poll or post has not returned for 10 s: then it can be used no more, and is to be
     *     closed again
     * @throws RuntimeException      the binding's exception for the C function that frees it, if that one fails; what it holds
     *     is lost then
     */
    @Override
    public final void close() {
        if (isClosed() && !isUnfinished()) {
            return;
        }
        requireNoDependents();
        final long last = surrender();
        if (last == 0) {
            return;
        }
        try {
            destroy(last);
        } finally {
            release();
        }
    }

    /**
     * Frees the C object; nobody uses it any more.
     *
     * @param lastAddress its address
     */
    protected abstract void destroy(long lastAddress);

    /**
     * Whether threads use this object between {@link HotCalls#enter()} and {@link HotCalls#leave()}.
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
        final long unfinished = takeUnfinished();
        final long last = unfinished != 0 ? unfinished : end();
        if (last == 0) {
            return 0;
        }
        try {
            // A call that was inside until just now may have made one more.
            requireNoDependents();
        } catch (final IllegalStateException e) {
            if (unfinished == 0) {
                reopen(last);
            } else {
                leaveUnfinished(last);
            }
            throw e;
        }
        try {
            endParts();
            // So may a call that was inside a part.
            requireNoDependents();
            if (usedInHotCalls()) {
                HotCalls.awaitQuiescence();
            }
        } catch (final IllegalStateException e) {
            leaveUnfinished(last);
            throw e;
        }
        return last;
    }

    private synchronized boolean isUnfinished() {
        return unfinishedAddress != 0;
    }

    private synchronized long takeUnfinished() {
        final long last = unfinishedAddress;
        unfinishedAddress = 0;
        return last;
    }

    private synchronized void leaveUnfinished(final long last) {
        unfinishedAddress = last;
    }

    /** Lets go of what this object needed. */
    protected final void release() {
        for (final NativeResource dependency : dependencies) {
            dependency.dependents.remove(this);
        }
        dependencies.clear();
    }

    /**
     * Says that C needs another object for as long as this one lives. To be called while the other cannot be closed.
     *
     * @param other cannot be closed before this
     */
    protected final void dependsOn(final NativeResource other) {
        dependencies.add(other);
        other.dependents.add(this);
    }

    /**
     * Says that C needs another object no more.
     *
     * @param other one that {@link #dependsOn} named
     */
    protected final void independentOf(final NativeResource other) {
        if (dependencies.remove(other)) {
            other.dependents.remove(this);
        }
    }

    private void requireNoDependents() {
        final List<String> names = dependents.stream().map(NativeResource::name).sorted().toList();
        if (!names.isEmpty()) {
            final String shown = String.join(", ", names.subList(0, Math.min(names.size(), NAMES_SHOWN)));
            throw new IllegalStateException(name() + " cannot be closed before what was made of it: " + shown +
                (names.size() > NAMES_SHOWN ? " and " + (names.size() - NAMES_SHOWN) + " more" : ""));
        }
    }
}
