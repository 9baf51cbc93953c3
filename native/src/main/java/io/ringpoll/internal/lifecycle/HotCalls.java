package io.ringpoll.internal.lifecycle;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Marks calls into C on the hot path, so that only one thread makes them at a time and another thread can free their memory.
 *
 * <p><b>One at a time.</b> The first thread that calls becomes the owner: it pays two plain stores and no fence. When another
 * thread calls, ownership moves to it, which costs a handshake with all threads of the JVM and waits for a call of the old
 * owner. After {@value #MAX_HANDOVERS} such moves there is no owner any more, and all threads enter by a lock that spins. So
 * threads may take turns as they like: rarely, for the price of a handshake; often, for that of a compare-and-swap.
 *
 * <p><b>Freeing.</b> {@link #awaitQuiescence()} makes every thread of the JVM pass a handshake, which is the fence that callers
 * omit. After it, a thread that has read an address before shows its mark, and any other finds the address gone. The same holds
 * for the move of ownership, with the owner instead of the address.
 *
 * <p>The mark's count is also the {@link io.ringpoll.internal.ffm.CallTurn} of each call, by which some are plain downcalls
 * that poll for
 * safepoints. A virtual thread is a thread like any other here: it never leaves its carrier within a call.
 */
public final class HotCalls {
    /** Moves of ownership before it is given up for a lock. */
    static final int MAX_HANDOVERS = 8;

    private static final VarHandle OWNED;
    private static final Set<HotCalls> LIVE = ConcurrentHashMap.newKeySet();
    private static final long QUIESCENCE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long QUIESCENCE_POLL_NS = TimeUnit.MICROSECONDS.toNanos(5);

    static {
        try {
            OWNED = MethodHandles.lookup().findVarHandle(HotCalls.class, "owned", HotMark.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Guards changes of ownership, of the partner too. */
    private final Object ownership;
    /** Null if there is none. */
    private HotCalls partner;
    /** The owner's mark, as the owner reads it: {@link #current}, or that of nobody while ownership moves. */
    private HotMark owned = HotMark.NOBODY;
    /** The mark that a thread may be in. */
    private volatile HotMark current = HotMark.NOBODY;
    private int handovers;

    private HotCalls(final Object ownership) {
        this.ownership = ownership;
    }

    /**
     * Creates an instance that {@link #awaitQuiescence()} covers.
     *
     * @return to be given to {@link #discard()} in the end
     */
    public static HotCalls register() {
        return register(new Object());
    }

    /**
     * Creates a partner: calls of both may be made at the same time, but each learns by {@link HotMark#isShared()} whether other
     * threads make the partner's, since the two have something in common that is not thread-safe.
     *
     * @return to be given to {@link #discard()} in the end
     */
    public HotCalls registerPartner() {
        final HotCalls other = register(ownership);
        other.partner = this;
        partner = other;
        return other;
    }

    private static HotCalls register(final Object ownership) {
        final HotCalls calls = new HotCalls(ownership);
        LIVE.add(calls);
        return calls;
    }

    /**
     * The number of live instances, for leak checks.
     *
     * @return those registered and not discarded
     */
    public static int registered() {
        return LIVE.size();
    }

    /** Forgets this; no thread makes calls any more. */
    public void discard() {
        LIVE.remove(this);
    }

    /**
     * Begins a call: the calling thread is about to read an address and to call C with it. Allocates nothing, unless ownership
     * moves.
     *
     * @return the mark, to be left after the call
     * @throws IllegalStateException if another thread's call does not end within 10 seconds
     */
    public HotMark enter() {
        // A plain load: the second one finds out if this mark is not the owner's any more.
        final HotMark mark = owned;
        if (mark.isOwnedBy(Thread.currentThread())) {
            mark.enter();
            if ((HotMark) OWNED.getOpaque(this) == mark) {
                return mark;
            }
            mark.leave();
        }
        return enterAsAnother();
    }

    private HotMark enterAsAnother() {
        final Thread thread = Thread.currentThread();
        while (true) {
            final HotMark mark = current;
            if (mark.isLock()) {
                mark.enterLock();
                return mark;
            }
            synchronized (ownership) {
                own(thread);
            }
            final HotMark mine = (HotMark) OWNED.getOpaque(this);
            if (mine.isOwnedBy(thread)) {
                mine.enter();
                if ((HotMark) OWNED.getOpaque(this) == mine) {
                    return mine;
                }
                mine.leave();
            }
        }
    }

    private void own(final Thread thread) {
        if (current.isLock() || owned == current && current.isOwnedBy(thread)) {
            return;
        }
        final boolean isHandover = current != HotMark.NOBODY && !current.isOwnedBy(thread);
        final boolean toLock = isHandover && handovers == MAX_HANDOVERS;
        disown(thread);
        boolean shared = false;
        if (partner != null && partner.current != HotMark.NOBODY) {
            shared = toLock || !partner.current.isOwnedBy(thread);
            if (shared != partner.current.isShared()) {
                partner.disown(thread);
                partner.install(HotMark.of(partner.current.owner(), shared));
            }
        }
        handovers += isHandover ? 1 : 0;
        install(toLock ? HotMark.lock(partner != null) : HotMark.of(thread, shared));
    }

    /** Makes sure that the owner is outside, and does not enter again before it has taken part in the change of ownership. */
    private void disown(final Thread thread) {
        OWNED.setVolatile(this, HotMark.NOBODY);
        if (current != HotMark.NOBODY && !current.isOwnedBy(thread)) {
            handshake();
            final UninterruptiblePause pause = new UninterruptiblePause();
            try {
                awaitOutside(current, pause, System.nanoTime());
            } finally {
                pause.end();
            }
        }
    }

    private void install(final HotMark mark) {
        // In this order: a thread that waits for quiescence must find every mark in use.
        current = mark;
        OWNED.setVolatile(this, mark);
    }

    /**
     * Waits until no thread is in a call that it began before this method did. Addresses that were taken away before are in no
     * thread's hands afterwards.
     *
     * @throws IllegalStateException if a call does not end within 10 seconds
     */
    public static void awaitQuiescence() {
        handshake();
        final UninterruptiblePause pause = new UninterruptiblePause();
        try {
            final long startNs = System.nanoTime();
            for (final HotCalls calls : LIVE) {
                awaitOutside(calls.current, pause, startNs);
            }
        } finally {
            pause.end();
        }
    }

    /** Closing a shared arena is a handshake with all threads: JDK 25's only one that Java code can ask for. */
    private static void handshake() {
        Arena.ofShared().close();
    }

    /** A thread that is outside, or in another call by now, is not in the call that was under way. */
    private static void awaitOutside(final HotMark mark, final UninterruptiblePause pause, final long startNs) {
        final int word = mark.word();
        while (!mark.hasChanged(word)) {
            if (System.nanoTime() - startNs > QUIESCENCE_TIMEOUT_NS) {
                throw new IllegalStateException("a call into C has not returned for 10 s; its memory cannot be freed");
            }
            pause.parkNanos(QUIESCENCE_POLL_NS);
        }
    }
}
