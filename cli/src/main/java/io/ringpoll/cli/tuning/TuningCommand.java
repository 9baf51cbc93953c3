package io.ringpoll.cli.tuning;

import io.ringpoll.bench.options.Execution;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The commands of this module, each by its name: {@code doctor}, {@code tune plan}, {@code tune jitter}.
 *
 * <p>Exit codes: 0 if all went well; 1 if it could not be done; 2 for wrong usage; see {@link DoctorCommand} for
 * {@code doctor --strict}.
 */
@Command(
    name = "./ringpoll",
    mixinStandardHelpOptions = true,
    description = "Looks at this machine, explains what it costs completions, places threads and measures the quiet.",
    subcommands = {DoctorCommand.class, TuningCommand.Tune.class})
public final class TuningCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    TuningCommand() {
    }

    /**
     * Runs a command.
     *
     * @param arguments as typed, the command's name first
     */
    public static void main(final String[] arguments) {
        System.exit(Execution.run(new TuningCommand(), arguments));
    }

    /**
     * The commands, with their errors in one line.
     *
     * @return a new command line
     */
    static CommandLine commandLine() {
        return Execution.commandLine(new TuningCommand());
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command: give one of doctor, tune");
    }

    /** {@code ./ringpoll tune}: holds the commands that plan and measure. */
    @Command(name = "tune", mixinStandardHelpOptions = true, description = "Plans the threads' CPUs, measures jitter.",
        subcommands = {PlanCommand.class, JitterCommand.class})
    static final class Tune implements Runnable {
        @Spec
        private CommandSpec spec;

        @Override
        public void run() {
            throw new ParameterException(spec.commandLine(), "no command: give one of "
                + String.join(", ", spec.subcommands().keySet()));
        }
    }
}
