package io.ringpoll.internal.ffm;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Decides which calls of a critical handle are plain downcalls, so that no loop runs without a safepoint poll.
 *
 * <p>C2 takes a critical downcall for a safepoint, which it is not, and removes the poll of a loop around it: such a thread never
 * stops for a garbage collection or a handshake ({@code docs/internals/jdk-critical-loop.md}). A plain downcall polls when it
 * returns. So a critical handle takes the caller's turn, a count of its calls, and makes every {@value #PERIOD}th one plain.
 * The choice is a branch on a value that only the running program knows, hence no compiler can remove it.
 */
public final class CallTurn {
    /** One call in so many is plain. */
    public static final int PERIOD = 1024;
    /** The turn of a call that is to be plain, since it may take long. */
    public static final int PLAIN = 0;

    private static final MethodHandle IS_PLAIN;

    static {
        try {
            IS_PLAIN = MethodHandles.lookup().findStatic(CallTurn.class, "isPlain",
                MethodType.methodType(boolean.class, int.class));
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private CallTurn() {
    }

    /**
     * Whether a call is to be plain.
     *
     * @param turn a count of calls; only its low bits matter
     * @return true for one turn in {@value #PERIOD}, {@link #PLAIN} among them
     */
    public static boolean isPlain(final int turn) {
        return (turn & (PERIOD - 1)) == 0;
    }

    /**
     * The turn of a call that makes a series of calls in C, each of which counts.
     *
     * @param turn  of the first
     * @param calls their maximum number, fewer than {@value #PERIOD}
     * @return {@link #PLAIN} if one of them would be plain, so that plain calls are as frequent as without series
     */
    public static int ofSeries(final int turn, final int calls) {
        return (turn - 1 & PERIOD - 1) + calls >= PERIOD ? PLAIN : turn;
    }

    /** Makes one handle, with the turn as leading parameter, of the plain and the critical handle of a function. */
    static MethodHandle select(final MethodHandle plain, final MethodHandle critical) {
        return MethodHandles.guardWithTest(IS_PLAIN, MethodHandles.dropArguments(plain, 0, int.class),
            MethodHandles.dropArguments(critical, 0, int.class));
    }
}
