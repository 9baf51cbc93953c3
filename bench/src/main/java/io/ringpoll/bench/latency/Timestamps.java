package io.ringpoll.bench.latency;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.completion.DeviceClock;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.os.Errno;
import java.io.PrintWriter;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/** The clock of a device, if it has one, for a measurement that splits the time of completions. */
final class Timestamps {
    /** The end of the label of a contestant with timestamps. */
    static final String SUFFIX = "-timestamps";

    private final VerbsContext context;
    /** Null if the device has no clock. */
    private final ClockError error;

    private Timestamps(final VerbsContext context, final ClockError error) {
        this.context = context;
        this.error = error;
    }

    /** The clock of a device, with the measured error of its conversion. */
    static Timestamps of(final VerbsContext context) {
        return new Timestamps(context, isOfferedBy(context) ? ClockError.of(context) : null);
    }

    /** Whether queues can be created with timestamps: a device may have a clock and no extended queues. */
    private static boolean isOfferedBy(final VerbsContext context) {
        if (!DeviceClock.isOfferedBy(context)) {
            return false;
        }
        try (VerbsCompletionQueue queue = VerbsCompletionQueue.createWithTimestamps(context, "timestamps", 1, null)) {
            return queue.hasTimestamps();
        } catch (final VerbsException refused) {
            if (refused.errno() != Errno.EOPNOTSUPP) {
                throw refused;
            }
            return false;
        }
    }

    /** Whether the device has a clock. */
    boolean isOffered() {
        return error != null;
    }

    /** The split for one pipeline in one turn. */
    CompletionSplit newSplit(final int ringSize) {
        return new CompletionSplit(DeviceClock.of(context), ringSize);
    }

    /** Prints one line: the clock, or the name of the missing capability. */
    void print(final PrintWriter out) {
        if (!isOffered()) {
            out.println("no split into device to poll and poll to handler: " + context.name() +
                " does not have the capability \"" + DeviceClock.CAPABILITY + "\"");
            return;
        }
        out.printf(Locale.ROOT, "clock of %s: %s; resolution %.2f ns; in %d comparisons with System.nanoTime() the error of one"
            + " was at most %d ns (highest %,d), the difference to the next, 0.8 ms later, %d ns (p99 %,d, highest %,d)%n",
            context.name(), frequency(), error.resolutionNs(), ClockError.COMPARISONS, median(error.comparisonNs()),
            error.comparisonNs().getMaxValue(), median(error.differenceNs()), error.differenceNs().getValueAtPercentile(99),
            error.differenceNs().getMaxValue());
    }

    private String frequency() {
        return String.format(Locale.ROOT, "%,d kHz", error.frequencyKhz());
    }

    /** Adds the clock, or the missing capability. */
    void addTo(final ObjectNode root) {
        final ObjectNode clock = root.putObject("deviceClock");
        clock.put("device", context.name()).put("capability", DeviceClock.CAPABILITY).put("offered", isOffered());
        if (isOffered()) {
            clock.put("frequencyKhz", error.frequencyKhz()).put("resolutionNs", error.resolutionNs())
                .put("comparisons", ClockError.COMPARISONS);
            addError(clock.putObject("comparisonErrorNs"), error.comparisonNs());
            addError(clock.putObject("differenceNs"), error.differenceNs());
        }
    }

    private static void addError(final ObjectNode node, final Histogram errors) {
        node.put("median", median(errors)).put("p99", errors.getValueAtPercentile(99)).put("max", errors.getMaxValue());
    }

    private static long median(final Histogram errors) {
        return errors.getValueAtPercentile(50);
    }
}
