package io.ringpoll.bench.latency;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/**
 * Writes the histograms of a measurement as files for the tools of HdrHistogram: for each run the percentile distribution in
 * microseconds ({@code .hgrm}) and a log with one histogram per turn ({@code .hlog}); the distributions of the parts of the time,
 * where they were measured.
 */
final class HistogramFiles {
    private static final double NS_PER_US = 1_000;
    private static final int TICKS_PER_HALF = 5;
    private static final double MS_PER_SECOND = 1_000;

    private HistogramFiles() {
    }

    /** Writes the files of a report into a folder; returns the files. */
    static List<Path> write(final LatencyReport report, final Path folder) {
        final List<Path> files = new ArrayList<>();
        for (final LatencyRun run : report.runs()) {
            final String stem = fileName(report.name() + "-" + run.label());
            try {
                Files.createDirectories(folder);
                files.add(writeDistribution(run.total(), folder.resolve(stem + ".hgrm")));
                files.add(writeLog(run, folder.resolve(stem + ".hlog")));
                final Optional<SplitTimes> split = run.split();
                if (split.isPresent()) {
                    files.add(writeDistribution(split.get().deviceToPollNs(), folder.resolve(stem + "-device-to-poll.hgrm")));
                    files.add(writeDistribution(split.get().pollToHandlerNs(), folder.resolve(stem + "-poll-to-handler.hgrm")));
                }
            } catch (final IOException e) {
                throw new UncheckedIOException("cannot write to " + folder, e);
            }
        }
        return files;
    }

    /** The file name for a measurement, without the slashes of its name. */
    static String fileName(final String measurement) {
        return measurement.replaceAll("[^A-Za-z0-9.]+", "-");
    }

    private static Path writeDistribution(final Histogram histogram, final Path file) throws IOException {
        try (PrintStream out = new PrintStream(Files.newOutputStream(file))) {
            histogram.outputPercentileDistribution(out, TICKS_PER_HALF, NS_PER_US);
        }
        return file;
    }

    private static Path writeLog(final LatencyRun run, final Path file) throws IOException {
        try (PrintStream out = new PrintStream(Files.newOutputStream(file))) {
            final HistogramLogWriter writer = new HistogramLogWriter(out);
            writer.outputComment("[latency of " + run.label() + " in nanoseconds, a histogram for each turn]");
            writer.outputLogFormatVersion();
            writer.outputLegend();
            double endSeconds = 0;
            for (final LatencyWindow window : run.windows()) {
                final double startSeconds = endSeconds;
                endSeconds += window.loss().windowNs() / NS_PER_US / MS_PER_SECOND / MS_PER_SECOND;
                writer.outputIntervalHistogram(startSeconds, endSeconds, window.latencyNs(), 1);
            }
        }
        return file;
    }
}
