package io.ringpoll.lifecycle;

import io.ringpoll.ffm.CallTurn;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Marks the time that one thread spends in critical calls into C, so that another thread can free what they use.
 *
 * <p>The caller pays two plain stores, to a count of its calls, and no fence. What a fence would do, {@link #awaitQuiescence()}
 * does instead, from the other side: it makes every thread of the JVM pass a handshake. A thread in a critical call counts as
 * "in Java", and there is no safepoint between {@link #enter()}, the check of the address and the call; so after the handshake
 * either its mark is visible, or the thread sees the address gone.
 *
 * <p>The count is also the {@link CallTurn} of each call, by which some of them are plain downcalls that poll for safepoints.
 *
 * <p>One marker belongs to one thread at a time; that is what librpma asks of a connection too.
 */
public final class HotCalls {
    private static final VarHandle MARK = MethodHandles.arrayElementVarHandle(int[].class);
    private static final Set<HotCalls> LIVE = ConcurrentHashMap.newKeySet();
    private static final long QUIESCENCE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long QUIESCENCE_POLL_NS = TimeUnit.MICROSECONDS.toNanos(5);
    private static final int INSIDE = 1;
    private static final int CALL = 2;
    private static final int TURN_SHIFT = 1;

    // Written twice per poll: 112 bytes on either side keep it out of the cache lines, also paired ones, of other data.
    private static final int INDEX = 28;
    private static final int LENGTH = 57;

    /** Odd, so that the first turns of any {@link CallTurn#PERIOD} markers in a row differ, and near its golden section. */
    private static final int TURN_STEP = 633;
    private static final AtomicInteger FIRST_TURN = new AtomicInteger();

    private final int[] padded = new int[LENGTH];

    private HotCalls() {
        // A loop over many markers makes a plain call now and then, not a plain call of each at once.
        padded[INDEX] = FIRST_TURN.getAndAdd(TURN_STEP) << TURN_SHIFT;
    }

    /**
     * Creates a marker that {@link #awaitQuiescence()} knows.
     *
     * @return to be given to {@link #discard()} in the end
     */
    public static HotCalls register() {
        final HotCalls calls = new HotCalls();
        LIVE.add(calls);
        return calls;
    }

    /**
     * How many markers there are, for those who look for leaks.
     *
     * @return those registered and not discarded
     */
    public static int registered() {
        return LIVE.size();
    }

    /** Forgets the marker; its owner makes no calls any more. */
    public void discard() {
        LIVE.remove(this);
    }

    /**
     * Marks the owning thread as being about to read an address and to call C with it.
     *
     * @return the {@link CallTurn} of that call
     */
    public int enter() {
        final int mark = (int) MARK.get(padded, INDEX) + CALL | INSIDE;
        MARK.setOpaque(padded, INDEX, mark);
        return mark >>> TURN_SHIFT;
    }

    /** Says that the owning thread is back from C. */
    public void leave() {
        MARK.setRelease(padded, INDEX, (int) MARK.get(padded, INDEX) & ~INSIDE);
    }

    /**
     * Waits until no thread is in a critical call that it began before this method did. Addresses that were taken away before
     * are in no thread's hands afterwards.
     *
     * @throws IllegalStateException if a critical call does not end within 10 seconds
     */
    public static void awaitQuiescence() {
        // Closing a shared arena is a handshake with all threads: JDK 25's only one that Java code can ask for.
        Arena.ofShared().close();
        final UninterruptiblePause pause = new UninterruptiblePause();
        try {
            awaitEachCall(pause);
        } finally {
            pause.end();
        }
    }

    private static void awaitEachCall(final UninterruptiblePause pause) {
        final long startNs = System.nanoTime();
        for (final HotCalls calls : LIVE) {
            final int mark = (int) MARK.getAcquire(calls.padded, INDEX);
            // A thread that is outside, or in another call by now, is not in the call that was under way.
            while ((mark & INSIDE) != 0 && (int) MARK.getAcquire(calls.padded, INDEX) == mark) {
                if (System.nanoTime() - startNs > QUIESCENCE_TIMEOUT_NS) {
                    throw new IllegalStateException("a call into C has not returned for 10 s; what it uses cannot be freed");
                }
                pause.parkNanos(QUIESCENCE_POLL_NS);
            }
        }
    }
}
