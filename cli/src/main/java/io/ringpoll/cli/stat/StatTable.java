package io.ringpoll.cli.stat;

import io.ringpoll.counters.Counter;
import io.ringpoll.internal.counters.CountersSnapshot;
import io.ringpoll.internal.counters.CountersSnapshot.RecordedError;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Formats the counters and errors of a pipeline as a text table. */
final class StatTable {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss").withZone(ZoneId.systemDefault());
    private static final String ROW = "  %-64s %20s %16s%n";
    private static final double PERCENT = 100;

    private final boolean withZeros;
    private final boolean wholeErrors;

    StatTable(final boolean withZeros, final boolean wholeErrors) {
        this.withZeros = withZeros;
        this.wholeErrors = wholeErrors;
    }

    void print(final Watched watched, final PrintWriter out) {
        final CountersSnapshot snapshot = watched.latest();
        final PipelineView view = new PipelineView(snapshot, watched.before());
        final long upMs = System.currentTimeMillis() - snapshot.startMs();
        out.printf("%s, process %d, %s%n", snapshot.name(), snapshot.pid(), watched.hasEnded() ? "ended; seen last:"
            : "up " + Duration.ofSeconds(TimeUnit.MILLISECONDS.toSeconds(upMs)).toString().substring(2).toLowerCase(Locale.ROOT));
        out.printf(ROW, "", "value", "per second");
        for (final Counter counter : view.counters(withZeros)) {
            out.printf(ROW, counter.label(), value(counter), rate(view, counter));
        }
        printErrors(snapshot, out);
        out.println();
    }

    private void printErrors(final CountersSnapshot snapshot, final PrintWriter out) {
        for (final RecordedError error : snapshot.errors()) {
            final String text = wholeErrors ? error.text().stripTrailing() : error.text().lines().findFirst().orElse("");
            out.printf("  error, %d times from %s to %s: %s%n", error.count(), TIME.format(Instant.ofEpochMilli(error.firstMs())),
                TIME.format(Instant.ofEpochMilli(error.lastMs())), text);
        }
    }

    private static String value(final Counter counter) {
        if (isTime(counter)) {
            // A maximum is short, a sum is long.
            return counter.kind() == Counter.Kind.COUNTER ? number(TimeUnit.NANOSECONDS.toMillis(counter.value())) + " ms" :
                String.format(Locale.ROOT, "%,.1f us", counter.value() / 1e3);
        }
        return counter.name().equals("handler_state") ? state(counter.value()) : number(counter.value());
    }

    private static String rate(final PipelineView view, final Counter counter) {
        if (view.rate(counter).isEmpty()) {
            return "";
        }
        final double rate = view.rate(counter).getAsDouble();
        return isTime(counter) ? String.format(Locale.ROOT, "%.1f %% of it", PERCENT * rate / TimeUnit.SECONDS.toNanos(1)) :
            number(Math.round(rate));
    }

    private static boolean isTime(final Counter counter) {
        return counter.unit().equals("nanoseconds");
    }

    private static String state(final long value) {
        return switch ((int) value) {
            case 0 -> "starting";
            case 1 -> "running";
            case 2 -> "ended";
            case -1 -> "failed";
            default -> number(value);
        };
    }

    private static String number(final long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }
}
