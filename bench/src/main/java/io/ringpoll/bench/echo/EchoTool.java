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

/** The measurement in JVMs of its own: JSON on standard output, a table on the other one. */
public final class EchoTool {
    private EchoTool() {
    }

    /**
     * Measures.
     *
     * @param args the name of the settings, and the index of the JVM that measures, or {@code --json}: all of them
     * @throws IOException          if a contestant cannot be connected
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static void main(final String... args) throws IOException, InterruptedException {
        final PrintWriter out = new PrintWriter(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        final PrintWriter log = new PrintWriter(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        if (!args[1].equals("--json")) {
            Device.choose(DeviceKind.LOOPBACK);
            final int fork = Integer.parseInt(args[1]);
            out.println(new EchoMeasurement(EchoConfig.named(args[0]), HotCpus.planned(1), fork).run().toJson());
            // Not all threads of the contestants have to end.
            System.exit(0);
        }
        log.println(MachineReport.line());
        log.println(MachineReport.jvmLine());
        final EchoReport report = EchoForks.run(args[0]);
        report.print(log);
        out.println(report.toJson());
        System.exit(report.faults().isEmpty() ? 0 : 1);
    }
}
