package io.ringpoll.cli.stat;

import io.ringpoll.internal.counters.CountersSnapshot;
import io.ringpoll.internal.counters.CountersSnapshot.Counter;
import io.ringpoll.internal.counters.CountersSnapshot.RecordedError;
import io.ringpoll.internal.poller.CounterType;
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
        view.occupancy().ifPresent(slots -> out.printf(Locale.ROOT, ROW, "ring: slots in use, of " + number(view.ringSize()),
            number(slots), ""));
        for (final String handler : view.handlers()) {
            view.lag(handler).ifPresent(slots -> out.printf(ROW, handler + ": slots behind", number(slots), ""));
        }
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
        if (counter.type() == null) {
            return number(counter.value());
        }
        return switch (counter.type().kind()) {
            case NANOSECONDS -> number(TimeUnit.NANOSECONDS.toMillis(counter.value())) + " ms";
            case MAX_NS -> String.format(Locale.ROOT, "%,.1f us", counter.value() / 1e3);
            default -> counter.type() == CounterType.HANDLER_STATE ? state(counter.value()) : number(counter.value());
        };
    }

    private static String rate(final PipelineView view, final Counter counter) {
        if (view.rate(counter).isEmpty()) {
            return "";
        }
        final double rate = view.rate(counter).getAsDouble();
        return counter.type().kind() == CounterType.Kind.NANOSECONDS ?
            String.format(Locale.ROOT, "%.1f %% of it", PERCENT * rate / TimeUnit.SECONDS.toNanos(1)) :
            number(Math.round(rate));
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
