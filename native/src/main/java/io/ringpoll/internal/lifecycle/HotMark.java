package io.ringpoll.internal.lifecycle;

import io.ringpoll.internal.ffm.CallTurn;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;

/**
 * Counts the calls into C on the hot path: those of one thread through all its {@link HotCalls}, or those of all threads through
 * one of them, which enter it as a lock.
 *
 * <p>A thread's count grows at the end of a call, by one plain store; whether a call is under way is seen on the thread's stack.
 * A lock counts {@link CallTurn#PERIOD} per call, of which 1 at its end: so each of its calls is plain, since of plain calls now
 * and then other threads could make all, and leave none to the thread that needs one for its safepoint poll.
 */
public final class HotMark extends HotMarkWord {
    /** The mark of nobody, which no thread enters. */
    static final HotMark NOBODY = new HotMark(null, 0);

    private static final VarHandle WORD;
    private static final ThreadLocal<HotMark> OWN = ThreadLocal.withInitial(() -> new HotMark(Thread.currentThread(), 1));

    /** Length of the memory for arguments. */
    static final int ARGUMENTS_BYTES = 2048;
    private static final int CACHE_LINE_BYTES = 64;

    private static final int SPINS = 100;
    private static final long LOCK_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    /** A thread waits for so long until it is the next. Its turn costs time if it does not run, so this happens rarely. */
    private static final long PATIENCE_NS = TimeUnit.MILLISECONDS.toNanos(50);
    /** A thread that waits looks for the holder at this interval. */
    private static final long SEARCH_NS = TimeUnit.MILLISECONDS.toNanos(100);

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(HotMarkWord.class, "word", int.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Thread owner;
    /** The thread that enters this lock before all others; null for none. */
    private volatile Thread next;
    /** The thread whose call of this lock has the {@link #heldWord}. */
    private volatile Thread holder;
    private volatile int heldWord;
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

    /** Memory for the arguments of a call; null until the thread needs it. */
    private MemorySegment arguments;
    private long argumentsAddress;

    private HotMark(final Thread owner, final int word) {
        this.owner = owner;
        this.word = word;
    }

    /** The mark of the calling thread. */
    static HotMark ofCurrentThread() {
        return OWN.get();
    }

    /** A mark of all threads. */
    static HotMark lock() {
        return new HotMark(null, 1);
    }

    /**
     * The turn of the call that this mark was entered for.
     *
     * @return a {@link CallTurn}
     */
    public int turn() {
        return word;
    }

    /** Ends the call. */
    public void leave() {
        leave(1);
    }

    /** Ends calls that followed each other within one method: it was entered once, and each had the next turn. */
    void leave(final int calls) {
        WORD.setRelease(this, word + calls);
    }

    /**
     * Memory of this thread for the arguments of a call into C. It contains anything: each call writes all that it passes.
     *
     * @return address of {@value #ARGUMENTS_BYTES} bytes, at the start of a cache line; valid while the thread exists
     */
    long arguments() {
        return argumentsAddress != 0 ? argumentsAddress : newArguments();
    }

    private long newArguments() {
        arguments = Arena.ofAuto().allocate(ARGUMENTS_BYTES, CACHE_LINE_BYTES);
        argumentsAddress = arguments.address();
        return argumentsAddress;
    }

    boolean isOwnedBy(final Thread thread) {
        return owner == thread;
    }

    Thread owner() {
        return owner;
    }

    boolean isOfLiveThread() {
        return owner != null && owner.isAlive();
    }

    boolean isLock() {
        return owner == null && this != NOBODY;
    }

    /**
     * Begins a call of any thread, after the calls of others. A thread that has waited for long enters before all others, which
     * would otherwise enter again as soon as they leave, and keep it out if their calls are long.
     *
     * @throws IllegalStateException if another thread's call does not end within 10 seconds
     */
    void enterLock() {
        final Thread thread = Thread.currentThread();
        for (int i = 0; i < SPINS; i++) {
            if (tryEnterLock(thread)) {
                return;
            }
            Thread.onSpinWait();
        }
        awaitLock(thread);
    }

    private boolean tryEnterLock(final Thread thread) {
        final int latest = (int) WORD.getOpaque(this);
        final Thread first = next;
        return (first == null || first == thread) && !CallTurn.isPlain(latest) &&
            WORD.weakCompareAndSet(this, latest, latest + CallTurn.PERIOD - 1);
    }

    private void awaitLock(final Thread thread) {
        final long startNs = System.nanoTime();
        long changeNs = startNs;
        long searchNs = startNs;
        int seen = (int) WORD.getOpaque(this);
        try {
            while (!tryEnterLock(thread)) {
                final long nowNs = System.nanoTime();
                final int latest = (int) WORD.getOpaque(this);
                if (latest != seen) {
                    seen = latest;
                    changeNs = nowNs;
                } else if (nowNs - changeNs > LOCK_TIMEOUT_NS) {
                    throw new IllegalStateException("another thread's call into C has not returned for 10 s");
                }
                if (nowNs - searchNs > SEARCH_NS) {
                    searchNs = nowNs;
                    releaseIfAbandoned(latest);
                }
                // The next thread may not run: a virtual one for which there is no carrier.
                final boolean passesOver = !CallTurn.isPlain(latest) && nowNs - changeNs > PATIENCE_NS;
                if (passesOver || next == null && nowNs - startNs > PATIENCE_NS) {
                    putNext(thread);
                }
                Thread.yield();
            }
        } finally {
            if (next == thread) {
                next = null;
            }
        }
    }

    /**
     * Names the holder of this lock, which has entered it. By its stack other threads find out if it has lost the lock: a stack
     * overflow can end a method before it leaves.
     */
    void hold() {
        final int inside = word;
        holder = Thread.currentThread();
        heldWord = inside;
    }

    private void releaseIfAbandoned(final int inside) {
        if (isAbandoned(inside)) {
            WORD.compareAndSet(this, inside, inside + 1);
        }
    }

    /** Whether the thread that holds this lock has ended its call without leaving. */
    private boolean isAbandoned(final int inside) {
        if (!CallTurn.isPlain(inside) || heldWord != inside) {
            return false;
        }
        final Thread thread = holder;
        final boolean outside = thread == Thread.currentThread() ||
            HotFrames.canObserve(thread) && !HotFrames.isInside(thread);
        return outside && word() == inside;
    }

    /** Lets a thread enter this lock before all others. */
    void putNext(final Thread thread) {
        next = thread;
    }

    /** Whether a thread waits for this lock that enters it before all others. */
    boolean hasNext() {
        return next != null;
    }

    /** The count, which changes when the call that is under way ends. */
    int word() {
        return (int) WORD.getAcquire(this);
    }

    /**
     * Whether a call is under way. If it is, and {@link #word()} is read after this, that call has ended once the word changes.
     * Of another thread's mark, false also means that the thread sees all earlier writes.
     */
    boolean isInside() {
        if (owner == null) {
            final int latest = word();
            return this != NOBODY && CallTurn.isPlain(latest) && !isAbandoned(latest);
        }
        return owner != Thread.currentThread() && HotFrames.isInside(owner);
    }
}
