package io.ringpoll.internal.transport;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The resources of an object, in the order in which its construction has taken them. The end of the object, and that of a
 * construction that fails half-way, release them in the reverse order.
 * <pre>
 *   construction: device | pools | threads          a failure here  -&gt; the same way back
 *   end:          device | pools | threads  &lt;- starts here, and stops at threads that have not ended
 * </pre>
 *
 * <p>Not thread-safe: it belongs to the constructing thread, then to the one that ends the object.
 */
public class ResourceStack {
    private final Deque<BooleanSupplier> ends = new ArrayDeque<>();
    private final Consumer<Throwable> onFailure;

    /**
     * Creates an empty stack.
     *
     * @param onFailure is passed the exception of a resource that could not be released; the others are released nevertheless.
     *     It is also passed that of a user that could not be ended
     */
    public ResourceStack(final Consumer<Throwable> onFailure) {
        this.onFailure = onFailure;
    }

    /**
     * Adds a resource.
     *
     * @param resource closed at the end
     */
    public final void push(final AutoCloseable resource) {
        pushUser(() -> {
            try {
                resource.close();
            } catch (final Exception | Error failure) {
                onFailure.accept(failure);
            }
            return true;
        });
    }

    /**
     * Adds a user of the resources below, such as a thread: they remain as long as it may access them.
     *
     * @param end ends it; returns false if it has not ended in time. If it throws, the user may still access the resources, so
     *     they remain as well
     */
    public void pushUser(final BooleanSupplier end) {
        ends.push(end);
    }

    /**
     * Releases all resources, the last one first.
     *
     * @return false if a user has not ended; the resources below it are not released
     */
    public final boolean end() {
        return end(onFailure);
    }

    /**
     * Releases what a construction has taken before it failed.
     *
     * @param failure thrown by the caller; that of a user which could not be ended is added to it
     */
    public final void endAfter(final Throwable failure) {
        end(failure::addSuppressed);
    }

    private boolean end(final Consumer<Throwable> onUserFailure) {
        while (!ends.isEmpty()) {
            if (!hasEnded(ends.peek(), onUserFailure)) {
                return false;
            }
            ends.pop();
        }
        return true;
    }

    private static boolean hasEnded(final BooleanSupplier end, final Consumer<Throwable> onUserFailure) {
        try {
            return end.getAsBoolean();
        } catch (final RuntimeException | Error failure) {
            onUserFailure.accept(failure);
            return false;
        }
    }
}
