package io.ringpoll.internal.lifecycle;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Marks calls into C on the hot path, so that only one thread makes them at a time and another thread can free their memory.
 *
 * <p><b>One at a time.</b> The first thread that calls becomes the owner: it pays a comparison, and a plain store when a call
 * ends. When another thread calls, ownership moves to it, which costs a handshake with the old owner and waits for its call.
 * Threads that take turns often ({@link HandoverAllowance}) lose the owner for good, and all enter by a lock that spins. So they
 * may take turns as they like: rarely, for the price of a handshake; often, for that of a compare-and-swap.
 *
 * <p><b>Freeing.</b> An owner does not announce its calls. {@link #awaitQuiescence()} reads the stacks of the owners instead. The
 * JVM does that in a handshake, which is the fence that callers omit: a thread that has read an address before shows the frame of
 * a {@link HotCall} method, and any other finds the address gone. The same holds for the move of ownership, with the owner
 * instead of the address.
 *
 * <p>The mark's count is also the {@link io.ringpoll.internal.ffm.CallTurn} of each call, by which some are plain downcalls
 * that poll for safepoints. A virtual thread is a thread like any other here: it never leaves its carrier within a call.
 */
public final class HotCalls {
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
    /** The mark to enter: {@link #current}, or that of nobody while ownership moves. */
    private HotMark owned = HotMark.NOBODY;
    /** The lease that the owner may have; null if it never had one. */
    private volatile HotLease lease;
    /** Written while no thread is in a call. */
    private boolean shared;
    /** The mark that a thread may be in. */
    private volatile HotMark current = HotMark.NOBODY;
    private final HandoverAllowance handovers = new HandoverAllowance();

    private HotCalls(final Object ownership) {
        this.ownership = ownership;
    }

    /**
     * Creates an instance that {@link #awaitQuiescence()} covers.
     *
     * @param caller the class whose {@link HotCall} methods enter it
     * @return to be given to {@link #discard()} in the end
     */
    public static HotCalls register(final Class<?> caller) {
        HotFrames.register(caller);
        return register(new Object());
    }

    /**
     * Creates a partner, with the same callers: calls of both may be made at the same time, but each learns by {@link
     * #isShared()} whether other threads make the partner's, since the two have something in common that is not thread-safe.
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
     * moves away from a live thread.
     *
     * @return the mark, to be left after the call
     * @throws IllegalStateException if another thread's call does not end within 10 seconds
     */
    public HotMark enter() {
        final HotMark mark = (HotMark) OWNED.getAcquire(this);
        return mark.isOwnedBy(Thread.currentThread()) ? mark : enterAsAnother();
    }

    /**
     * Whether other threads may be in calls of the partner at the same time; to be asked within a call.
     *
     * @return false if there is no partner, or it has the same owner
     * @see #registerPartner()
     */
    public boolean isShared() {
        return shared;
    }

    /**
     * Whether several threads make calls, within a lock: nobody gets a lease then. Any thread.
     *
     * @return a snapshot
     */
    public boolean isLocked() {
        return current.isLock();
    }

    /**
     * Leases an address to the owner, which calls this within a call; does nothing within a lock, where there is no owner.
     *
     * @param wanted to be given the address; it replaces the last one
     */
    public void lease(final HotLease wanted) {
        final HotMark mark = (HotMark) OWNED.getVolatile(this);
        if (!mark.isOwnedBy(Thread.currentThread())) {
            return;
        }
        final HotLease last = lease;
        if (last != null) {
            last.revoke();
        }
        lease = wanted;
        final long granted = wanted.grant(mark);
        // In this order: a thread that takes the ownership or the address away afterwards revokes the lease as well.
        if (OWNED.getVolatile(this) != mark || wanted.leasable() != granted) {
            wanted.revoke();
        }
    }

    private void revokeLease() {
        final HotLease last = lease;
        if (last != null) {
            last.revoke();
        }
    }

    private HotMark enterAsAnother() {
        final Thread thread = Thread.currentThread();
        // The thread's previous call has ended, also if that was one through a lock, which this mark does not count.
        HotMark.ofCurrentThread().leave();
        while (true) {
            final HotMark lock = current;
            if (lock.isLock()) {
                lock.enterLock();
                lock.hold();
                return lock;
            }
            own(thread);
            final HotMark mine = (HotMark) OWNED.getAcquire(this);
            if (mine.isOwnedBy(thread)) {
                return mine;
            }
        }
    }

    /** A thread in here is outside for others, which may hold the monitor while they wait for it: it has read nothing yet. */
    private void own(final Thread thread) {
        synchronized (ownership) {
            makeOwner(thread);
        }
    }

    private void makeOwner(final Thread thread) {
        if (current.isLock() || owned == current && current.isOwnedBy(thread)) {
            return;
        }
        final boolean isHandover = current.isOfLiveThread() && !current.isOwnedBy(thread);
        final boolean toLock = isHandover && !handovers.take(System.nanoTime()) || !HotFrames.canObserve(thread);
        disown();
        shared = toLock && partner != null;
        if (partner != null && partner.current != HotMark.NOBODY) {
            shared |= !partner.current.isOwnedBy(thread);
            partner.share(shared);
        }
        install(toLock ? HotMark.lock() : HotMark.ofCurrentThread());
    }

    private void share(final boolean isShared) {
        if (shared != isShared) {
            final HotMark owner = current;
            disown();
            shared = isShared;
            install(owner);
        }
    }

    /** Makes sure that the owner is outside, and does not enter again before it has taken part in the change of ownership. */
    private void disown() {
        OWNED.setVolatile(this, HotMark.NOBODY);
        revokeLease();
        // A poller that takes over a new queue allocates nothing.
        if (current.isInside()) {
            awaitOutside(Set.of(current));
        }
    }

    private void install(final HotMark mark) {
        // In this order: a thread that waits for quiescence must find every mark in use.
        current = mark;
        OWNED.setVolatile(this, mark);
    }

    /**
     * Waits until no thread is in a call that it began before this method did. Addresses that were taken away before are in no
     * thread's hands afterwards. Not to be called within a call.
     *
     * @throws IllegalStateException if a call does not end within 10 seconds
     */
    public static void awaitQuiescence() {
        LIVE.forEach(HotCalls::revokeLease);
        awaitOutside(LIVE.stream().map(calls -> calls.current).collect(Collectors.toSet()));
    }

    /** Waits until the threads of these marks are outside, or in another call by now, hence not in the one that was under way. */
    private static void awaitOutside(final Set<HotMark> marks) {
        // Of all marks before any wait: during a wait for one, the calls of the others end as well, and later ones begin.
        final Map<HotMark, Integer> callsUnderWay = new HashMap<>();
        for (final HotMark mark : marks) {
            if (mark.isInside()) {
                // In this order: a change of this word is the end of the call that was seen, or of a later one.
                callsUnderWay.put(mark, mark.word());
            }
        }
        final UninterruptiblePause pause = new UninterruptiblePause();
        try {
            final long startNs = System.nanoTime();
            while (!haveEnded(callsUnderWay)) {
                if (System.nanoTime() - startNs > QUIESCENCE_TIMEOUT_NS) {
                    throw new IllegalStateException("a call into C has not returned for 10 s; its memory cannot be freed");
                }
                pause.parkNanos(QUIESCENCE_POLL_NS);
            }
        } finally {
            pause.end();
        }
    }

    /** Forgets the calls that have ended; true if none is left. */
    private static boolean haveEnded(final Map<HotMark, Integer> calls) {
        calls.entrySet().removeIf(call -> call.getKey().word() != call.getValue() || !call.getKey().isInside());
        return calls.isEmpty();
    }
}
