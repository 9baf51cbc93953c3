package io.ringpoll.internal.verbs;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import java.nio.ByteOrder;
import java.util.Set;
import org.agrona.UnsafeApi;

/**
 * Decides the {@link CompletionPath} of records by their words, without an object for each.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>
 */
public final class CompletionPaths {
    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
    static final long STATUS_MASK = LITTLE_ENDIAN ? 0xFFFF_FFFFL : 0xFFFF_FFFFL << 32;
    /** The {@link #bit} of receives. */
    static final int RECEIVES_BIT = 1 << 1;
    /** The {@link #bit} of errors. */
    static final int ERROR_BIT = 1 << 2;
    /** The {@link #bits} of all paths. */
    static final int ALL_BITS = 1 | RECEIVES_BIT | ERROR_BIT;
    private static final int RECEIVE_BIT = Integer.numberOfTrailingZeros(WcOpcode.RECV);
    private static final int RECEIVE_SHIFT = RECEIVE_BIT + (LITTLE_ENDIAN ? Integer.SIZE : 0);
    /** The bit of status and opcode that distinguishes a receive. */
    static final long RECEIVE_MASK = 1L << RECEIVE_SHIFT;

    private CompletionPaths() {
    }

    /**
     * Decides the path of a completion, as a bit: for sets of paths.
     *
     * @param statusAndOpcode the 8 bytes at {@link IbvWc#STATUS_OFFSET}, in native byte order
     * @return {@code 1 << ordinal()} of its path, without access to an object
     */
    public static int bit(final long statusAndOpcode) {
        return isError(statusAndOpcode) ? ERROR_BIT : 1 << receiveBit(statusAndOpcode);
    }

    /**
     * Whether a completion takes the error path.
     *
     * @param statusAndOpcode as for {@link #bit}
     * @return true if its status is not success
     */
    public static boolean isError(final long statusAndOpcode) {
        return (statusAndOpcode & STATUS_MASK) != 0;
    }

    /**
     * The status alone.
     *
     * @param statusAndOpcode as for {@link #bit}
     * @return a value of {@link WcStatus}
     */
    public static int status(final long statusAndOpcode) {
        return (int) (LITTLE_ENDIAN ? statusAndOpcode : statusAndOpcode >>> Integer.SIZE);
    }

    /**
     * Distinguishes a successful receive from a successful send or write, as a number that a loop can add up without a branch.
     *
     * @param statusAndOpcode as for {@link #bit}, of a completion that is no error
     * @return 1 for a receive, 0 for anything else
     */
    public static int receiveBit(final long statusAndOpcode) {
        return (int) (statusAndOpcode >>> RECEIVE_SHIFT) & 1;
    }

    /**
     * As {@link #receiveBit(long)}, of the opcode alone: where the record has just been written field by field, one load of two
     * fields would wait for both stores.
     *
     * @param opcode one of {@link WcOpcode}, of a completion that is no error
     * @return 1 for a receive, 0 for anything else
     */
    public static int receiveBit(final int opcode) {
        return opcode >>> RECEIVE_BIT & 1;
    }

    /**
     * Several paths in one number.
     *
     * @param paths of {@link CompletionPath}
     * @return the bits that {@link #bit} has for their completions
     */
    public static int bits(final Set<? extends Enum<?>> paths) {
        int bits = 0;
        for (final Enum<?> path : paths) {
            bits |= 1 << path.ordinal();
        }
        return bits;
    }

    /**
     * Counts completions by path.
     *
     * @param wcAddress of the first record
     * @param count     their number
     * @return {@code errors << 32 | receives}; the others are sends and writes
     */
    public static long tally(final long wcAddress, final int count) {
        if (count == 0) {
            return 0;
        }
        // The first record apart: one is the usual number, and the set-up of the loop costs more than a record.
        int statuses = UnsafeApi.getInt(wcAddress + IbvWc.STATUS_OFFSET);
        int receives = receiveBit(UnsafeApi.getInt(wcAddress + IbvWc.OPCODE_OFFSET));
        // Without a branch, and counted by an int: the compiler unrolls this.
        for (int i = 1; i < count; i++) {
            final long wc = wcAddress + i * (long) IbvWc.SIZE_BYTES;
            statuses |= UnsafeApi.getInt(wc + IbvWc.STATUS_OFFSET);
            receives += receiveBit(UnsafeApi.getInt(wc + IbvWc.OPCODE_OFFSET));
        }
        return statuses == WcStatus.SUCCESS ? receives : tallyWithErrors(wcAddress, count);
    }

    /**
     * Counts completions by path, as {@link #tally}, if some have failed: their opcodes are not valid.
     *
     * @param wcAddress of the first record
     * @param count     their number
     * @return {@code errors << 32 | receives}
     */
    public static long tallyWithErrors(final long wcAddress, final int count) {
        int receives = 0;
        int errors = 0;
        for (int i = 0; i < count; i++) {
            final long wc = wcAddress + i * (long) IbvWc.SIZE_BYTES;
            if (UnsafeApi.getInt(wc + IbvWc.STATUS_OFFSET) != WcStatus.SUCCESS) {
                errors++;
            } else {
                receives += receiveBit(UnsafeApi.getInt(wc + IbvWc.OPCODE_OFFSET));
            }
        }
        return (long) errors << Integer.SIZE | receives;
    }
}
