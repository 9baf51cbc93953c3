package io.ringpoll.cli.tuning;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ./ringpoll tune}: the parent of the commands that plan and measure. */
@Command(name = "tune", mixinStandardHelpOptions = true,
    description = "Plans the CPUs of threads, measures jitter, verifies changes.",
    subcommands = {PlanCommand.class, JitterCommand.class, VerifyCommand.class})
public final class TuneCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    TuneCommand() {
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command: use one of "
            + String.join(", ", spec.subcommands().keySet()));
    }
}
