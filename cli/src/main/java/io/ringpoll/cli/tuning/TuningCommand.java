package io.ringpoll.cli.tuning;

import java.io.IOException;
import java.io.UncheckedIOException;
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
        System.exit(commandLine().execute(arguments));
    }

    /**
     * The commands, with errors told in one line.
     *
     * @return a new command line
     */
    static CommandLine commandLine() {
        final CommandLine line = new CommandLine(new TuningCommand()).setExpandAtFiles(false);
        line.setParameterExceptionHandler((refused, given) -> {
            refused.getCommandLine().getErr().println(
                nameOf(refused.getCommandLine()) + ": " + refused.getMessage().lines().findFirst().orElse(""));
            return CommandLine.ExitCode.USAGE;
        });
        line.setExecutionExceptionHandler((failure, command, parsed) -> {
            if (failure instanceof IOException || failure instanceof UncheckedIOException
                || failure instanceof IllegalStateException
                || failure instanceof io.ringpoll.os.OsException) {
                command.getErr().println(nameOf(command) + ": " + failure.getMessage());
                return CommandLine.ExitCode.SOFTWARE;
            }
            throw failure;
        });
        return line;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "no command: give one of doctor, tune");
    }

    private static String nameOf(final CommandLine command) {
        return command.getCommandSpec().qualifiedName().replace("./", "");
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
