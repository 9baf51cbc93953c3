package io.ringpoll.cli.tuning;

import io.ringpoll.bench.jitter.JitterMeter;
import io.ringpoll.bench.jitter.JitterPlot;
import io.ringpoll.bench.jitter.JitterResult;
import io.ringpoll.bench.plot.PlotFile;
import io.ringpoll.cli.options.CheckedOptions;
import io.ringpoll.cli.options.Execution;
import io.ringpoll.cli.options.OutputPath;
import io.ringpoll.internal.tuning.plan.AffinityPlan;
import io.ringpoll.internal.tuning.plan.PlanRequest;
import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineDescription;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.Topology;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ./ringpoll tune jitter}: measures the interruptions of a spinning thread on each CPU, in Java and in C. */
@Command(
    name = "jitter",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Measures interruptions of a spinning thread on each CPU, in Java and in C.")
public final class JitterCommand implements Callable<Integer>, CheckedOptions {
    private static final double MAX_SECONDS = 86_400;

    @Spec
    private CommandSpec spec;

    @Option(names = "--cpus", paramLabel = "LIST",
        description = "The CPUs to spin on, for instance 0,1 (default: the hot CPUs of the plan).")
    private String cpus;

    @Option(names = "--seconds", paramLabel = "S", defaultValue = "30",
        description = "Running time of each loop (${DEFAULT-VALUE}).")
    private double seconds;

    @Option(names = "--no-c", description = "Omit the loop in C, which halves the time.")
    private boolean withoutC;

    @Option(names = "--plot", paramLabel = "FILE", description = "Write a plot to this file, .svg or .png.")
    private Path plot;

    @Option(names = "--json", description = "Print only one JSON object on standard output.")
    private boolean json;

    /** Created by picocli. */
    JitterCommand() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        check();
        final MachineFiles files = MachineFiles.ofThisMachine();
        final Topology topology = Topology.read(files);
        final MachineDescription machine = MachineDescription.of(files, topology);
        final JitterMeter meter = new JitterMeter(cpus(topology), (long) (seconds * 1e9), !withoutC);
        final PrintWriter err = spec.commandLine().getErr();
        final JitterResult result = meter.run((what, doneNs, totalNs) -> {
            err.printf(Locale.ROOT, "spinning in %-4s  %.0f of %.0f s%n", what, doneNs / 1e9, totalNs / 1e9);
            err.flush();
        });
        final PrintWriter out = spec.commandLine().getOut();
        final JitterReport report = new JitterReport(machine, result);
        if (json) {
            out.println(report.toJson());
        } else {
            report.print(out);
        }
        out.flush();
        if (plot != null) {
            JitterPlot.write(result, machine.line(), plot);
            err.println("plot: " + plot);
        }
        return 0;
    }

    @Override
    public void check() {
        Execution.require(spec, seconds >= 0.1 && seconds <= MAX_SECONDS,
            "--seconds " + seconds + " is not from 0.1 to " + (long) MAX_SECONDS);
        OutputPath.requireFile(spec, "--plot", plot);
        Execution.require(spec, plot == null || PlotFile.isPlot(plot), "--plot '" + plot + "' ends neither in .svg nor in .png");
        cpus(Topology.ofThisMachine());
    }

    private CpuSet cpus(final Topology topology) {
        try {
            final CpuSet chosen;
            if (cpus == null) {
                final AffinityPlan plan = AffinityPlan.plan(topology, PlanRequest.ofPipeline());
                final CpuSet hot = plan.hotCpus().minus(plan.auxiliary());
                chosen = hot.isEmpty() ? topology.usable() : hot;
            } else {
                chosen = CpuSet.parse(cpus);
            }
            final CpuSet outside = chosen.minus(topology.usable().or(topology.affinity()));
            if (chosen.isEmpty() || !outside.isEmpty()) {
                throw new IllegalArgumentException(chosen.isEmpty() ? "an empty list of CPUs" : outside.named()
                    + " cannot be used: this process may use " + topology.usable());
            }
            return chosen;
        } catch (final IllegalArgumentException refused) {
            throw new ParameterException(spec.commandLine(), "--cpus: " + refused.getMessage());
        }
    }
}
