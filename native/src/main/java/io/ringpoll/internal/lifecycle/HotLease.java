package io.ringpoll.internal.lifecycle;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The address of a C object for the hot calls of one thread, as long as no other thread makes any: a copy that {@link HotCalls}
 * takes away before it lets another thread in, and before {@link HotCalls#awaitQuiescence()} looks for calls under way. So the
 * thread reads this one field, which implies both: that the object is open, and that the calls are the thread's own.
 *
 * <p>A call is {@link #enterLeased()}, the call into C unless the address is 0, and {@link #leave()}, in one {@link HotCall}
 * method. If the address is 0, the call is made between {@link HotCalls#enter()} and {@link HotMark#leave()} instead, with a
 * {@link HotCalls#lease} in between.
 *
 * <p>Owned by the one thread that makes the calls. Another one may go on with them only after it has taken the ownership of the
 * {@link HotCalls}, which revokes the lease, or after {@link #revoke()}.
 */
public abstract class HotLease {
    private static final VarHandle ADDRESS;

    static {
        try {
            ADDRESS = MethodHandles.lookup().findVarHandle(HotLease.class, "address", long.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The mark of the thread that has the lease, or had the last one: its last call must still be counted. */
    private HotMark mark = HotMark.NOBODY;
    @SuppressWarnings("unused")
    private long address;
    /** Contains the address as well; null if none does. */
    private LeaseTable table;
    private int place;

    /**
     * Creates one without an address.
     *
     * @param caller the class whose {@link HotCall} methods enter it
     */
    protected HotLease(final Class<?> caller) {
        HotFrames.register(caller);
    }

    /**
     * The address that may be leased.
     *
     * @return 0 if the object is closed, or each call is to be made without a lease at present
     */
    protected abstract long leasable();

    /**
     * Begins a call.
     *
     * @return the object's address, valid until {@link #leave()}; 0 if there is none, and then no call has begun
     */
    protected final long enterLeased() {
        // No read of this call before the last safepoint poll, at which another thread may have searched for its frame.
        VarHandle.loadLoadFence();
        assert mark == HotMark.NOBODY || (long) ADDRESS.getOpaque(this) == 0 || mark.isOwnedBy(Thread.currentThread()) :
            "a thread makes calls with the lease of another";
        return (long) ADDRESS.getOpaque(this);
    }

    /**
     * As {@link #enterLeased()}, but any thread may call this.
     *
     * @return the object's address as there; 0 also if another thread has the lease
     */
    protected final long enterLeasedByCaller() {
        // No read of this call before the last safepoint poll, at which another thread may have searched for its frame.
        VarHandle.loadLoadFence();
        // In this order: whoever sees an address sees the mark that it has been granted to.
        final long leased = (long) ADDRESS.getAcquire(this);
        return mark.isOwnedBy(Thread.currentThread()) ? leased : 0;
    }

    /**
     * The turn of the call.
     *
     * @return a {@link io.ringpoll.internal.ffm.CallTurn}
     */
    protected final int turn() {
        return mark.turn();
    }

    /**
     * Memory for the arguments of the call, which contains anything.
     *
     * @return address of {@value HotMark#ARGUMENTS_BYTES} bytes, at the start of a cache line; valid until {@link #leave()}
     */
    protected final long arguments() {
        return mark.arguments();
    }

    /** Ends the call. */
    protected final void leave() {
        mark.leave();
    }

    /**
     * Ends all calls of a method, each of which had the next turn.
     *
     * @param calls their number, 1 or more
     */
    protected final void leave(final int calls) {
        mark.leave(calls);
    }

    /**
     * Moves the lease to a place of a table, which contains the address from the next grant on; by the owner, outside of calls.
     *
     * @param to       the table; null to be in none
     * @param newPlace the place, which no other lease has any more
     */
    protected final void takePlace(final LeaseTable to, final int newPlace) {
        // Also at the former place.
        revoke();
        table = to;
        place = newPlace;
    }

    /** Grants the address to the thread of a mark, which calls this within a call of its own. */
    final long grant(final HotMark owner) {
        final long granted = leasable();
        mark = owner;
        ADDRESS.setVolatile(this, granted);
        if (table != null) {
            table.grant(place, granted, owner);
        }
        return granted;
    }

    /** Takes the address away; any thread may. A call may still be under way. */
    protected final void revoke() {
        ADDRESS.setVolatile(this, 0L);
        final LeaseTable present = table;
        if (present != null) {
            present.revoke(place);
        }
    }
}
