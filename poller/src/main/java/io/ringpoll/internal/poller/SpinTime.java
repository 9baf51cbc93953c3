package io.ringpoll.internal.poller;

import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

/**
 * The time for which a poller spins before it sleeps. It doubles when a sleep ends so soon that a spin of the longest time would
 * have avoided it, up to this time, and halves when a sleep takes longer, down to the shortest time. So a poller spins from one
 * completion to the next if they come often, and for a short time if they do not. Linux finds the time for which a virtual CPU
 * polls before it halts in the same way.
 *
 * <p>Belongs to the polling thread.
 *
 * @see <a href="https://docs.kernel.org/virt/guest-halt-polling.html">guest halt polling</a>
 */
final class SpinTime {
    /** The shortest time, in nanoseconds, unless the longest is shorter. */
    static final long SHORTEST_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private final long shortestNs;
    private final long longestNs;
    private final NanoClock clock;
    private long ns;
    private boolean isIdle;
    private boolean sleeps;
    private long idleSinceNs;

    /**
     * Creates the state of a poller.
     *
     * @param shortestNs at the start, in nanoseconds
     * @param longestNs  in nanoseconds, not less
     * @param clock      of the polling thread
     */
    SpinTime(final long shortestNs, final long longestNs, final NanoClock clock) {
        this.shortestNs = shortestNs;
        this.longestNs = longestNs;
        this.clock = clock;
        ns = shortestNs;
    }

    /** The state of a poller with this longest time, in nanoseconds. */
    static SpinTime upTo(final long longestNs) {
        return new SpinTime(Math.min(SHORTEST_NS, longestNs), longestNs, SystemNanoClock.INSTANCE);
    }

    /** The time of the next spin, in nanoseconds; 0: none. */
    long ns() {
        return ns;
    }

    /** Notes that the poller has found nothing and spins. Returns the clock's time. */
    long onSpin() {
        final long nowNs = clock.nanoTime();
        if (!isIdle) {
            isIdle = true;
            idleSinceNs = nowNs;
        }
        return nowNs;
    }

    /** Notes that the poller has found nothing and is about to sleep. */
    void onSleep() {
        if (!isIdle) {
            onSpin();
        }
        sleeps = true;
    }

    /** Notes that the poller has found completions. */
    void onWork() {
        if (sleeps) {
            sleeps = false;
            final boolean isAvoidable = clock.nanoTime() - idleSinceNs <= longestNs;
            // Half of the longest time: twice of more overflows.
            ns = isAvoidable ? ns > longestNs / 2 ? longestNs : 2 * ns : Math.max(shortestNs, ns / 2);
        }
        isIdle = false;
    }
}
