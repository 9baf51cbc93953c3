package io.ringpoll.bench.options;

import io.ringpoll.device.DeviceException;
import io.ringpoll.rpma.RpmaException;
import io.ringpoll.verbs.VerbsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.util.concurrent.TimeoutException;
import org.openjdk.jmh.runner.RunnerException;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * Runs a command and turns what goes wrong into one line and an exit code: 2 for wrong usage, 1 for everything else.
 */
public final class Execution {
    private Execution() {
    }

    /**
     * Runs a command.
     *
     * @param command   annotated for picocli
     * @param arguments as typed
     * @return the exit code
     */
    public static int run(final Object command, final String... arguments) {
        return commandLine(command).execute(arguments);
    }

    /**
     * A command with its ways of saying what went wrong.
     *
     * @param command annotated for picocli
     * @return to be executed
     */
    public static CommandLine commandLine(final Object command) {
        final CommandLine line = new CommandLine(command);
        final String name = "ringpoll " + command.getClass().getAnnotation(Command.class).name();
        line.setParameterExceptionHandler((refused, given) -> {
            refused.getCommandLine().getErr().println(name + ": " + refused.getMessage());
            return CommandLine.ExitCode.USAGE;
        });
        line.setExecutionExceptionHandler((failure, commandLine, parsed) -> {
            if (isExpected(failure)) {
                commandLine.getErr().println(name + ": " + reason(failure));
                return CommandLine.ExitCode.SOFTWARE;
            }
            throw failure;
        });
        return line;
    }

    private static boolean isExpected(final Exception failure) {
        return failure instanceof RpmaException || failure instanceof DeviceException || failure instanceof VerbsException ||
            failure instanceof IllegalStateException || failure instanceof UnsupportedOperationException ||
            failure instanceof IOException || failure instanceof UncheckedIOException ||
            failure instanceof TimeoutException || failure instanceof RunnerException;
    }

    /** An exception of the file system says only which file it is about. */
    private static String reason(final Exception failure) {
        return failure instanceof FileSystemException ? failure.toString() : failure.getMessage();
    }
}
