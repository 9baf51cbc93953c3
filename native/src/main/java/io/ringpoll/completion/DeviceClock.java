package io.ringpoll.completion;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.os.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * The clock of a device, by which it takes completion timestamps: converts its ticks to the time of {@link System#nanoTime()} and
 * to wall-clock time.
 *
 * <p>A device's clock drifts against both, so the clocks are compared again for a timestamp that is more than {@value
 * #COMPARED_FOR_NS} ns newer than the last comparison. Their frequencies differ by less than 500 parts in a million where NTP
 * steers one of them, which is 0.5 us in that time. A comparison reads the device's clock through its provider, which takes about
 * a microsecond on hardware.
 *
 * <p>Owned by one thread; create one for each thread that converts. Nothing allocates after the creation.
 *
 * @see WorkCompletion#completionTimestamp()
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_query_rt_values_ex.3.html">ibv_query_rt_values_ex(3)</a>
 */
public final class DeviceClock {
    /** The name of the capability in messages, and of {@link #isOfferedBy}. */
    public static final String CAPABILITY = "completion timestamps";

    static final long COMPARED_FOR_NS = 1_000_000;

    private static final long NS_IN_MS = 1_000_000;
    /** {@code struct ringpoll_clocks}: ticks, monotonic_ns, realtime_ns, error_ns. */
    private static final int CLOCKS_BYTES = 32;
    private static final int MONOTONIC_OFFSET = 8;
    private static final int REALTIME_OFFSET = 16;
    private static final int ERROR_OFFSET = 24;

    private final VerbsContext context;
    private final long frequencyKhz;
    /** Number of unused bits at the upper end of a timestamp. */
    private final int unusedBits;
    private final MemorySegment clocks = Arena.ofAuto().allocate(CLOCKS_BYTES, Long.BYTES);
    private long comparedTicks;
    private long comparedNanoTime;
    private long comparedEpochNs;
    private long comparisonErrorNs;

    private DeviceClock(final VerbsContext context, final long frequencyKhz, final long mask) {
        this.context = context;
        this.frequencyKhz = frequencyKhz;
        this.unusedBits = Long.numberOfLeadingZeros(mask);
    }

    /**
     * Whether a device has the capability {@value #CAPABILITY}: a clock that can be read and a frequency that is known. The
     * loopback device and most hardware have it, Soft-RoCE does not. No device has it where libringpoll was not built for this
     * architecture.
     *
     * @param context the device
     * @return true if queues can be created by {@link VerbsCompletionQueue#createWithTimestamps}
     */
    public static boolean isOfferedBy(final VerbsContext context) {
        return query(Objects.requireNonNull(context, "the context is null"), new long[2]) == 0;
    }

    /**
     * The clock of a device.
     *
     * @param context the device
     * @return for the calling thread, or another one
     * @throws VerbsException with {@code EOPNOTSUPP} if the device does not have the capability {@value #CAPABILITY}
     */
    public static DeviceClock of(final VerbsContext context) {
        final long[] properties = new long[2];
        final int errno = query(Objects.requireNonNull(context, "the context is null"), properties);
        if (errno != 0) {
            throw refused("ibv_query_rt_values_ex", errno, context, "the device clock");
        }
        final DeviceClock clock = new DeviceClock(context, properties[0], properties[1]);
        clock.compare();
        return clock;
    }

    /** The exception for something that needs the capability. */
    static VerbsException refused(final String function, final int errno, final VerbsContext context, final String wanted) {
        return new VerbsException(function, errno, wanted + " needs the capability \"" + CAPABILITY + "\", which " +
            (isBuilt() ? context.name() + " does not have; use VerbsCompletionQueue.create, or another device (Soft-RoCE" +
                " never has it)" : "needs libringpoll.so: it is not part of the artifact for the architecture " +
                System.getProperty("os.arch") + "; build ringpoll on such a machine"));
    }

    /** Whether this architecture has the functions of {@link TimestampFunctions}. */
    private static boolean isBuilt() {
        return Libraries.current().ringpoll().isPresent();
    }

    private static int query(final VerbsContext context, final long[] properties) {
        if (!isBuilt()) {
            return Errno.EOPNOTSUPP;
        }
        final long device = context.enter();
        try (Arena arena = Arena.ofConfined()) {
            final long memory = arena.allocate(2 * Long.BYTES, Long.BYTES).address();
            final int errno = TimestampFunctions.ringpoll_query_clock(device, memory, memory + Long.BYTES);
            properties[0] = Memory.longAt(memory);
            properties[1] = Memory.longAt(memory + Long.BYTES);
            // Legacy providers, and kernels, without the call.
            return errno == Errno.ENOSYS ? Errno.EOPNOTSUPP : errno;
        } finally {
            context.exit();
        }
    }

    /**
     * The frequency of the clock.
     *
     * @return ticks in a millisecond
     */
    public long frequencyKhz() {
        return frequencyKhz;
    }

    /**
     * Reads the clock, and compares it with the others.
     *
     * @return the ticks now
     * @throws VerbsException if the device does not answer
     */
    public long ticks() {
        compare();
        return comparedTicks;
    }

    /**
     * The error of the last comparison with the clock of {@link System#nanoTime()}: half of the time in which the clocks were
     * read. The error of a conversion contains the drift since then as well.
     *
     * @return nanoseconds, at most so many in either direction
     */
    public long comparisonErrorNs() {
        return comparisonErrorNs;
    }

    /**
     * The time of a timestamp on the clock of {@link System#nanoTime()}.
     *
     * @param timestamp a completion timestamp of the device
     * @return nanoseconds, to be compared with results of that method
     * @throws VerbsException if the device does not answer
     */
    public long nanoTime(final long timestamp) {
        final long sinceNs = sinceComparisonNs(timestamp);
        return comparedNanoTime + sinceNs;
    }

    /**
     * The wall-clock time of a timestamp.
     *
     * @param timestamp a completion timestamp of the device
     * @return nanoseconds since 1970-01-01T00:00Z
     * @throws VerbsException if the device does not answer
     */
    public long epochNanos(final long timestamp) {
        final long sinceNs = sinceComparisonNs(timestamp);
        return comparedEpochNs + sinceNs;
    }

    private long sinceComparisonNs(final long timestamp) {
        final long sinceNs = nanoseconds(timestamp - comparedTicks);
        if (sinceNs <= COMPARED_FOR_NS) {
            return sinceNs;
        }
        compare();
        return nanoseconds(timestamp - comparedTicks);
    }

    /** A difference of ticks, of which the upper bits may be missing, in nanoseconds. */
    private long nanoseconds(final long ticks) {
        final long signed = ticks << unusedBits >> unusedBits;
        return signed / frequencyKhz * NS_IN_MS + signed % frequencyKhz * NS_IN_MS / frequencyKhz;
    }

    private void compare() {
        final long device = context.enter();
        final int errno;
        try {
            errno = TimestampFunctions.ringpoll_read_clocks(device, clocks.address());
        } finally {
            context.exit();
        }
        if (errno != 0) {
            throw new VerbsException("ibv_query_rt_values_ex", Math.abs(errno));
        }
        comparedTicks = Memory.longAt(clocks.address());
        comparedNanoTime = Memory.longAt(clocks.address() + MONOTONIC_OFFSET);
        comparedEpochNs = Memory.longAt(clocks.address() + REALTIME_OFFSET);
        comparisonErrorNs = Memory.longAt(clocks.address() + ERROR_OFFSET);
    }
}
