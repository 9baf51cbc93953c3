package io.ringpoll.internal.lifecycle;

import io.ringpoll.internal.ffm.CallTurn;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Leased addresses of many objects side by side, for one thread that makes the same call for each in turn: the call reads 8 bytes
 * of an array, where a {@link HotLease} is an object for each, anywhere in the heap. A lease keeps its place here up to date. The
 * array is outside of the heap, so that C can read it, too.
 *
 * <p>A call is {@link #enterLeased}, the call into C unless the address is 0, and {@link #leave}, in one {@link HotCall} method.
 * If the address is 0, the call is made by the object itself, which leases again. Calls for a few places may follow each other
 * before they all end by one {@link #leave}: a thread that waits for quiescence waits for all of them. They may also be one call
 * into C between {@link #enterLeasedSeries} and {@link #leave}, which reads an address immediately before each use, and makes no
 * call where it is 0.
 *
 * <p>Owned by the one thread that makes the calls, as are the places of the leases. Other threads only take addresses away. They
 * may do so at a former place of a lease that has been moved meanwhile: a place there only loses its address, and a lease that
 * is granted after the move is checked again after that ({@link HotCalls#lease}).
 */
public abstract class LeaseTable {
    private static final int CACHE_LINE_BYTES = 64;
    private static final VarHandle ADDRESS = ValueLayout.JAVA_LONG.arrayElementVarHandle();

    /** Freed when neither this nor a thread that takes an address away refers to it. */
    private MemorySegment addresses = MemorySegment.NULL;
    /** The mark of the owner, who has been granted all addresses. */
    private HotMark mark = HotMark.NOBODY;
    /** Calls into C that the mark does not count. */
    private int unpolled;

    /**
     * Creates one without places.
     *
     * @param caller the class whose {@link HotCall} methods enter it
     */
    protected LeaseTable(final Class<?> caller) {
        HotFrames.register(caller);
    }

    /**
     * Makes room for places, without addresses: all leases are to be placed again.
     *
     * @param places more than before
     */
    protected final void makeRoom(final int places) {
        addresses = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG.byteSize() * places, CACHE_LINE_BYTES);
    }

    /**
     * The address of the array, for calls of C.
     *
     * @return of 8 bytes for each place; another one after {@link #makeRoom}
     */
    protected final long placesAddress() {
        return addresses.address();
    }

    /**
     * Begins a call.
     *
     * @param place of the object's lease
     * @return the object's address, valid until {@link #leave}; 0 if there is none, and then no call has begun
     */
    protected final long enterLeased(final int place) {
        // No read of this call before the last safepoint poll, at which another thread may have searched for its frame.
        VarHandle.loadLoadFence();
        assert (long) ADDRESS.getOpaque(addresses, 0L, (long) place) == 0 || mark.isOwnedBy(Thread.currentThread()) :
            "a thread makes calls with the lease of another";
        return (long) ADDRESS.getOpaque(addresses, 0L, (long) place);
    }

    /**
     * Begins a call into C that makes a series of calls.
     *
     * @param calls maximum number of the series, fewer than {@link CallTurn#PERIOD}
     * @return the turn of the series: a plain call if one of its calls would be
     */
    protected final int enterLeasedSeries(final int calls) {
        // As above; C reads the addresses after this.
        VarHandle.loadLoadFence();
        return CallTurn.ofSeries(mark.turn() + unpolled, calls);
    }

    /** Ends a series that has made no call: it was a call into C nevertheless, of which some must be plain. */
    protected final void leaveUnpolled() {
        unpolled++;
    }

    /**
     * The turn of the first call; those of calls that follow it in the same method are the next ones.
     *
     * @return a {@link io.ringpoll.internal.ffm.CallTurn}
     */
    protected final int turn() {
        return mark.turn();
    }

    /**
     * Ends the call, or all calls of a method.
     *
     * @param calls their number, 1 or more
     */
    protected final void leave(final int calls) {
        assert mark.isOwnedBy(Thread.currentThread()) : "a thread makes calls with the lease of another";
        mark.leave(calls);
    }

    /** Grants an address to the thread of a mark, which calls this. */
    final void grant(final int place, final long address, final HotMark owner) {
        mark = owner;
        ADDRESS.setVolatile(addresses, 0L, (long) place, address);
    }

    /** Takes an address away; any thread may. */
    final void revoke(final int place) {
        final MemorySegment present = addresses;
        if (place < present.byteSize() / Long.BYTES) {
            ADDRESS.setVolatile(present, 0L, (long) place, 0L);
        }
    }
}
