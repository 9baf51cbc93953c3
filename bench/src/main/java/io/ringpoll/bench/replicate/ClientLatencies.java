package io.ringpoll.bench.replicate;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.HdrHistogram.HistogramLogWriter;

/** The file of the latencies of a client process: a log of HdrHistogram with one histogram, in nanoseconds. */
final class ClientLatencies {
    private static final double NS_PER_SECOND = 1e9;

    private ClientLatencies() {
    }

    static void write(final Path file, final Histogram latencies, final long runNs) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        try (PrintStream out = new PrintStream(Files.newOutputStream(file))) {
            final HistogramLogWriter writer = new HistogramLogWriter(out);
            writer.outputLogFormatVersion();
            writer.outputLegend();
            writer.outputIntervalHistogram(0, runNs / NS_PER_SECOND, latencies, 1);
            if (out.checkError()) {
                throw new IOException("cannot write to " + file);
            }
        }
    }

    /** The result of a client; its records are not verified. */
    static ReplicateResult read(final Path file) throws FileNotFoundException {
        try (HistogramLogReader reader = new HistogramLogReader(file.toFile())) {
            final Histogram latencies = (Histogram) reader.nextIntervalHistogram();
            final double seconds = (latencies.getEndTimeStamp() - latencies.getStartTimeStamp()) / 1e3;
            return new ReplicateResult(latencies.getTotalCount() / seconds, latencies, 0, AppendProfile.NONE);
        }
    }
}
