package io.ringpoll.internal.lifecycle;

import io.ringpoll.internal.ffm.CallTurn;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Shows whether a thread is in a call of one {@link HotCalls}: a count of its calls, whose lowest bit is set during a call.
 *
 * <p>A mark of one thread is written by that thread only, with plain stores. A lock is for several threads, which enter it one
 * after the other by compare-and-swap. A thread holds a mark from {@link HotCalls#enter()} to {@link #leave()}.
 */
public final class HotMark extends HotMarkWord {
    /** The mark of nobody, which no thread enters. */
    static final HotMark NOBODY = new HotMark(null, false, 0);

    private static final VarHandle WORD;
    /** Added by the begin and by the end of a call: the word is odd during one. */
    private static final int INSIDE = 1;
    private static final int TURN_SHIFT = 1;
    /**
     * A lock counts so that each turn of it is plain: of plain calls now and then other threads could make all, and leave none to
     * the thread that needs one for its safepoint poll.
     */
    private static final int CALL_OF_LOCK = CallTurn.PERIOD << TURN_SHIFT;

    /** Odd, so that the first turns of any {@link CallTurn#PERIOD} marks in a row differ, and near its golden section. */
    private static final int TURN_STEP = 633;
    private static final AtomicInteger FIRST_TURN = new AtomicInteger();

    private static final int SPINS = 100;
    private static final long LOCK_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(HotMarkWord.class, "word", int.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Thread owner;
    private final boolean shared;
    /** The cache lines behind the word. */
    long p15;
    long p16;
    long p17;
    long p18;
    long p19;
    long p20;
    long p21;
    long p22;
    long p23;
    long p24;
    long p25;
    long p26;
    long p27;
    long p28;

    private HotMark(final Thread owner, final boolean shared, final int turn) {
        this.owner = owner;
        this.shared = shared;
        word = turn << TURN_SHIFT;
    }

    /** A mark of one thread. */
    static HotMark of(final Thread owner, final boolean shared) {
        // A loop over many marks makes its plain calls spread out, not all in one pass.
        return new HotMark(owner, shared, FIRST_TURN.getAndAdd(TURN_STEP));
    }

    /** A mark of all threads. */
    static HotMark lock(final boolean shared) {
        // During its first call the word is one period and the bit.
        return new HotMark(null, shared, 1);
    }

    /**
     * The turn of the call that this mark was entered for.
     *
     * @return a {@link CallTurn}
     */
    public int turn() {
        return word >>> TURN_SHIFT;
    }

    /**
     * Whether other threads may be in calls of the partner at the same time.
     *
     * @return false if there is no partner, or it has the same owner
     * @see HotCalls#registerPartner()
     */
    public boolean isShared() {
        return shared;
    }

    /** Ends the call. */
    public void leave() {
        WORD.setRelease(this, word + INSIDE);
    }

    boolean isOwnedBy(final Thread thread) {
        return owner == thread;
    }

    Thread owner() {
        return owner;
    }

    boolean isLock() {
        return owner == null && this != NOBODY;
    }

    /** Begins a call of the owner. */
    void enter() {
        WORD.setOpaque(this, word + INSIDE);
    }

    /**
     * Begins a call of any thread, after the calls of others.
     *
     * @throws IllegalStateException if another thread's call does not end within 10 seconds
     */
    void enterLock() {
        int spins = 0;
        long startNs = 0;
        while (true) {
            final int latest = (int) WORD.getOpaque(this);
            if ((latest & INSIDE) == 0 && WORD.weakCompareAndSet(this, latest, latest + CALL_OF_LOCK - INSIDE)) {
                return;
            }
            if (spins++ < SPINS) {
                Thread.onSpinWait();
                continue;
            }
            if (startNs == 0) {
                startNs = System.nanoTime() | 1;
            } else if (System.nanoTime() - startNs > LOCK_TIMEOUT_NS) {
                throw new IllegalStateException("another thread's call into C has not returned for 10 s");
            }
            Thread.yield();
        }
    }

    /** The value to pass to {@link #hasChanged}. */
    int word() {
        return (int) WORD.getAcquire(this);
    }

    /** Whether the call that a word showed is over; true if it showed none. */
    boolean hasChanged(final int seen) {
        return (seen & INSIDE) == 0 || (int) WORD.getAcquire(this) != seen;
    }
}
