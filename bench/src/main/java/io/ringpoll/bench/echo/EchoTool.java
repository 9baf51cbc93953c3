package io.ringpoll.bench.echo;

import io.ringpoll.bench.measure.MachineReport;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** The measurement in JVMs of its own: JSON on standard output, a table on the other one. */
public final class EchoTool {
    private EchoTool() {
    }

    /**
     * Measures.
     *
     * @param args those of {@link EchoConfig#of}, and {@code --json}, which changes nothing
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static void main(final String... args) throws InterruptedException {
        final PrintWriter out = new PrintWriter(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        final PrintWriter log = new PrintWriter(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        log.println(MachineReport.line());
        log.println(MachineReport.jvmLine());
        int exitCode = 1;
        try {
            final List<String> settings = Arrays.stream(args).filter(word -> !word.startsWith("--")).toList();
            final EchoReport report = new EchoMeasurement(EchoConfig.of(settings)).run();
            report.print(log);
            out.println(report.toJson());
            exitCode = report.faults().isEmpty() ? 0 : 1;
        } catch (final IOException | IllegalStateException failed) {
            // The last line is that of the suite's error.
            log.println(failed.getMessage());
        }
        System.exit(exitCode);
    }
}
