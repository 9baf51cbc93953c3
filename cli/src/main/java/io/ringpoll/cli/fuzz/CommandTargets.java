package io.ringpoll.cli.fuzz;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.ringpoll.bench.change.ChangeEnvironment;
import io.ringpoll.bench.change.ChangeMeasurement;
import io.ringpoll.bench.change.ChangeRound;
import io.ringpoll.bench.change.ChangeSettings;
import io.ringpoll.cli.idle.IdleCommand;
import io.ringpoll.cli.latency.LatencyCommand;
import io.ringpoll.cli.options.CheckedOptions;
import io.ringpoll.cli.options.Execution;
import io.ringpoll.cli.replicate.ReplicateCommand;
import io.ringpoll.cli.run.RunCommand;
import io.ringpoll.cli.stat.StatCommand;
import io.ringpoll.cli.suite.BenchCommand;
import io.ringpoll.cli.throughput.ThroughputCommand;
import io.ringpoll.cli.torture.TortureCommand;
import io.ringpoll.cli.tuning.DoctorCommand;
import io.ringpoll.cli.tuning.PlanCommand;
import io.ringpoll.cli.tuning.TuneCommand;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.verify.fuzz.FuzzTarget;
import io.ringpoll.verify.fuzz.ReaderTarget;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.List;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** The command-line options of all commands, as fuzz targets. Stateless. */
final class CommandTargets {
    private CommandTargets() {
    }

    static List<FuzzTarget> all() {
        return List.of(
            options("run-options", RunCommand.class,
                "--seconds 5 --mix write=40,send=30 --payload 64 --connections 2 --depth 64",
                "--operations 100 --batch 32 --ring-size 8192 --wait yield --pin 0,1 --json",
                "--device loopback --address 127.0.0.1:7471 --role both --seed 1 --faults poll@1"),
            options("latency-options", LatencyCommand.class, "--duration 5 --rate 1000 --pin 0,1 --wait yield --json",
                "--over loopback --mode ping-pong --operation send --size 64 --iterations 9", "--against c --output . --strict",
                "--role client --address 127.0.0.1:7491 --operation write"),
            options("throughput-options", ThroughputCommand.class, "--rounds 5 --warm-up 1 --batch 32 --pin none --json",
                "--handlers 3 --window 5 --lead-in 5 --against c --ring-size 64",
                "--role client --address 127.0.0.1:7492 --operation send --size 64 --depth 8"),
            options("idle-options", IdleCommand.class, "--seconds 1 --wake-ups 100"),
            options("bench-options", BenchCommand.class, "--quick --json", "--full --only poll,latency --output x",
                "--only echo --connections 1,20"),
            options("stat-options", StatCommand.class, "1 2 --folder . --interval 0.5 --count 2 --json"),
            options("replicate-options", ReplicateCommand.class,
                "--seconds 3 --warm-up 1 --rounds 2 --compare --json", "--payload 100 --window 8 --log disk --address 127.0.0.1",
                "--role server --peers 127.0.0.1:7000,127.0.0.1:7001 --id 1 --dir x --election 500"),
            options("torture-options", TortureCommand.class, "--seconds 5 --seed 1 --json",
                "--scenes 3 --api verbs --device rdma"),
            ReaderTarget.ofText("tune-options", ParameterException.class, Execution::oneLine,
                text -> readTuning(TuneCommand.class, text),
                "plan --json --cpus 0-1 --pollers a,b --device mlx5_0", "jitter --seconds 1 --cpus 0 --no-c --plot x.svg",
                "verify --before x.json --rounds 9 --window 5 --rate 9 --pin 0,1", "verify --undo true --settle 1 -- true"),
            ReaderTarget.ofText("verify-file", IllegalArgumentException.class, ChangeMeasurement::parse, measurement()),
            ReaderTarget.ofText("doctor-options", ParameterException.class, Execution::oneLine,
                text -> readTuning(DoctorCommand.class, text), "--json --strict --verbose --root /"),
            options("fuzz-options", FuzzCommand.class, "--seconds 5 --seed 1 --target mix", "--inputs 3"));
    }

    private static String measurement() {
        final Histogram latencies = new Histogram(3);
        latencies.recordValue(150);
        return new ChangeMeasurement(new ChangeSettings(0, 1, WaitMode.YIELD, ChangeSettings.ANY_NODE, 1, 10, 1000),
            new ChangeEnvironment(JsonNodeFactory.instance.objectNode().put("floorNs", 1000)),
            List.of(new ChangeRound(List.of(new ChangeRound.LostTime(0, 0.5, 1000)), latencies, ""))).toJson();
    }

    /** Parses the options and checks them as a whole, without running the command. */
    private static FuzzTarget options(
        final String name, final Class<? extends CheckedOptions> command, final String... examples) {
        return ReaderTarget.ofText(name, ParameterException.class, Execution::oneLine,
            text -> Execution.check(create(command), text.split(" ")), examples);
    }

    /** Inspects the machine and plans as requested, which changes nothing; measures nothing. */
    private static void readTuning(final Class<?> tool, final String text) {
        final CommandLine last = Execution.commandLine(create(tool)).parseArgs(text.split(" "))
            .asCommandLineList().getLast();
        if (last.isUsageHelpRequested() || last.isVersionHelpRequested()) {
            return;
        }
        last.setOut(new PrintWriter(Writer.nullWriter()));
        final Object command = last.getCommand();
        try {
            switch (command) {
                case PlanCommand plan -> plan.call();
                case DoctorCommand doctor -> doctor.call();
                case CheckedOptions checked -> checked.check();
                default -> { }
            }
        } catch (final UncheckedIOException | IllegalStateException failed) {
            throw new ParameterException(last, failed.getMessage(), failed);
        }
    }

    private static <T> T create(final Class<T> command) {
        try {
            return CommandLine.defaultFactory().create(command);
        } catch (final Exception impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
