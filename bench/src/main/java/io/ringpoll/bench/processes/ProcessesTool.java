package io.ringpoll.bench.processes;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.MachineReport;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/** The measurement in a JVM of its own: JSON on standard output, a table on the other one. */
public final class ProcessesTool {
    private ProcessesTool() {
    }

    /**
     * Measures.
     *
     * @param args the name of the settings, and {@code --json}, which changes nothing
     * @throws IOException          if a process cannot be started
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(final String... args) throws IOException, InterruptedException {
        final ProcessesConfig config = ProcessesConfig.named(args[0]);
        Device.choose(DeviceKind.LOOPBACK);
        final PrintWriter out = new PrintWriter(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        final PrintWriter log = new PrintWriter(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        log.println(MachineReport.line());
        log.println(MachineReport.jvmLine());
        final ProcessesReport report = new ProcessesMeasurement(config, HotCpus.planned(1)).run();
        report.print(log);
        out.println(report.toJson());
        System.exit(0);
    }
}
