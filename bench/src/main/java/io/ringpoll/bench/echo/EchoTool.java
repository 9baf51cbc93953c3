package io.ringpoll.bench.echo;

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
public final class EchoTool {
    private EchoTool() {
    }

    /**
     * Measures.
     *
     * @param args the name of the settings, and {@code --json}, which changes nothing
     * @throws IOException if a contestant cannot be connected
     */
    public static void main(final String... args) throws IOException {
        final EchoConfig config = EchoConfig.named(args[0]);
        Device.choose(DeviceKind.LOOPBACK);
        final PrintWriter out = new PrintWriter(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        final PrintWriter log = new PrintWriter(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        log.println(MachineReport.line());
        log.println(MachineReport.jvmLine());
        final EchoReport report = new EchoMeasurement(config, HotCpus.planned(1)).run();
        report.print(log);
        out.println(report.toJson());
        // Not all threads of the contestants have to end.
        System.exit(report.faults().isEmpty() ? 0 : 1);
    }
}
