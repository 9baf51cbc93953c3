package io.ringpoll.cli.options;

import io.ringpoll.device.DeviceException;
import io.ringpoll.os.OsException;
import io.ringpoll.pipeline.PipelineStartException;
import io.ringpoll.rpma.RpmaException;
import io.ringpoll.verbs.VerbsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeoutException;
import org.openjdk.jmh.runner.RunnerException;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/**
 * Runs a command and turns what goes wrong into one line and an exit code: 2 for wrong usage, 1 for everything else.
 */
public final class Execution {
    private Execution() {
    }

    /**
     * A command with its ways of saying what went wrong.
     *
     * @param command annotated for picocli
     * @return to be executed
     */
    public static CommandLine commandLine(final Object command) {
        return configured(new CommandLine(command));
    }

    /**
     * Lets a command and its subcommands read words and report failures as all commands do.
     *
     * @param line the command
     * @return the same
     */
    public static CommandLine configured(final CommandLine line) {
        return CommandRunner.configured(line, Execution::isExpected);
    }

    /**
     * Reads the options of a command and looks at them as a whole, but runs nothing.
     *
     * @param command   annotated for picocli
     * @param arguments as typed
     * @throws ParameterException in one line if they are wrong
     */
    public static void check(final CheckedOptions command, final String... arguments) {
        final CommandLine line = commandLine(command);
        line.parseArgs(arguments);
        if (!line.isUsageHelpRequested() && !line.isVersionHelpRequested()) {
            command.check();
        }
    }

    /**
     * Refuses options unless something holds.
     *
     * @param spec      of the command
     * @param holds     what must
     * @param otherwise one line that names the option and what it may be
     */
    public static void require(final CommandSpec spec, final boolean holds, final String otherwise) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }

    /**
     * A message that may quote what was typed, as one line of bounded length.
     *
     * @param message with control characters and all
     * @return without them
     */
    public static String oneLine(final String message) {
        return CommandRunner.oneLine(message);
    }

    private static boolean isExpected(final Exception failure) {
        return failure instanceof RpmaException || failure instanceof DeviceException || failure instanceof VerbsException ||
            failure instanceof OsException || failure instanceof IllegalStateException ||
            failure instanceof UnsupportedOperationException || failure instanceof IOException ||
            failure instanceof UncheckedIOException || failure instanceof TimeoutException ||
            failure instanceof PipelineStartException || failure instanceof RunnerException;
    }
}
