package io.ringpoll.cli.options;

import io.ringpoll.completion.VerbsException;
import io.ringpoll.device.DeviceException;
import io.ringpoll.os.OsException;
import io.ringpoll.pipeline.PipelineStartException;
import io.ringpoll.rpma.RpmaException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeoutException;
import org.openjdk.jmh.runner.RunnerException;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Runs a command and reports a failure by one line and an exit code: 2 for wrong usage, 1 for other failures. */
public final class Execution {
    private Execution() {
    }

    /**
     * Creates the command line of a command, with its error reports.
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
     * Parses the options of a command and checks them as a whole, without running it.
     *
     * @param command   annotated for picocli
     * @param arguments as typed
     * @throws ParameterException in one line if they are invalid
     */
    public static void check(final CheckedOptions command, final String... arguments) {
        final CommandLine line = commandLine(command);
        line.parseArgs(arguments);
        if (!line.isUsageHelpRequested() && !line.isVersionHelpRequested()) {
            command.check();
        }
    }

    /**
     * Rejects options unless a condition holds.
     *
     * @param spec      spec of the command
     * @param holds     the condition
     * @param otherwise one line with the option and its valid values
     */
    public static void require(final CommandSpec spec, final boolean holds, final String otherwise) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }

    /**
     * Rejects two options of which one replaces the other.
     *
     * @param spec  spec of the command
     * @param one   an option
     * @param other another one, which would have no effect beside it
     */
    public static void requireOneOf(final CommandSpec spec, final String one, final String other) {
        final CommandLine.ParseResult parsed = spec.commandLine().getParseResult();
        require(spec, !parsed.hasMatchedOption(one) || !parsed.hasMatchedOption(other), one + " and " + other +
            " exclude each other");
    }

    /**
     * Shortens a message that may contain user input to one line.
     *
     * @param message the message, possibly with control characters
     * @return one line of bounded length without control characters
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
