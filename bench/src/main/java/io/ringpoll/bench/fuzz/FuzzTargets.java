package io.ringpoll.bench.fuzz;

import io.ringpoll.bench.idle.IdleCommand;
import io.ringpoll.bench.latency.LatencyCommand;
import io.ringpoll.bench.options.Execution;
import io.ringpoll.bench.replicate.ReplicateCommand;
import io.ringpoll.bench.routing.RoutingCommand;
import io.ringpoll.bench.run.HandshakeInputs;
import io.ringpoll.bench.stat.StatCommand;
import io.ringpoll.bench.suite.BenchCommand;
import io.ringpoll.bench.throughput.ThroughputCommand;
import io.ringpoll.bench.torture.TortureCommand;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.tuning.TuningCommand;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** All targets of the fuzzer; they are closed with it. One thread. */
final class FuzzTargets implements AutoCloseable {
    private final LiveConnection live = new LiveConnection();
    private final List<FuzzTarget> targets = new ArrayList<>();

    FuzzTargets() {
        targets.addAll(HandshakeInputs.targets());
        targets.addAll(DeviceTargets.on(live));
        targets.add(new CountersTarget());
        targets.add(new TextTarget("fault-plan", IllegalArgumentException.class, FuzzTargets::readPlan,
            "seed=7,status:rem-access-err:write@100,delay:2ms@~1000", "full:3@5+10#2,rnr:2@~9,poll:4@1,reorder:20@7",
            "call:ibv_reg_mr:ENOMEM@3,call:any:5@~100,late-event:500ns@2,spurious-event@1,overrun@9,disconnect@8"));
        targets.add(options("latency-options", LatencyCommand.class, "--seconds 5 --rate 1000 --pin 0,1 --wait yield --json"));
        targets.add(options("throughput-options", ThroughputCommand.class, "--seconds 5 --batch 32 --pin none --json"));
        targets.add(options("idle-options", IdleCommand.class, "--seconds 1 --wake-ups 100"));
        targets.add(options("routing-options", RoutingCommand.class, "--completions 1000 --rate 1000 --rounds 2"));
        targets.add(options("bench-options", BenchCommand.class, "--quick --json"));
        targets.add(options("stat-options", StatCommand.class, "1 2 --folder . --interval 0.5 --count 2 --json"));
        targets.add(options("replicate-options", ReplicateCommand.class, "--seconds 3"));
        targets.add(options("torture-options", TortureCommand.class, "--seconds 5 --scenes 3 --seed 1 --json"));
        targets.add(options("tune-options", TuningCommand.class, "tune plan --json", "doctor --json", "tune jitter --seconds 1"));
    }

    List<FuzzTarget> all() {
        return targets;
    }

    private static void readPlan(final String text) {
        final FaultPlan plan = FaultPlan.parse(text);
        if (!plan.equals(FaultPlan.parse(plan.toString()))) {
            throw new AssertionError("the plan's text is that of another: " + plan);
        }
    }

    private static FuzzTarget options(final String name, final Class<?> command, final String... examples) {
        return TextTarget.ofOptions(
            name, ParameterException.class, text -> commandLine(command).parseArgs(text.split(" ")), examples);
    }

    private static CommandLine commandLine(final Class<?> command) {
        try {
            return Execution.commandLine(CommandLine.defaultFactory().create(command));
        } catch (final Exception impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public void close() {
        targets.forEach(FuzzTarget::close);
        live.close();
    }
}
