package io.ringpoll.cli.options;

import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Runs a command and reports a failure by one line on standard error and an exit code: 2 for wrong usage, 1 for other failures,
 * such as a result that cannot be written.
 */
public final class CommandRunner {
    private static final String LAUNCHER = "./ringpoll";
    private static final int LONGEST_LINE = 2_000;
    private static final int MOST_SUGGESTIONS = 3;

    private CommandRunner() {
    }

    /**
     * Creates the command line of a command and its subcommands, with their error reports.
     *
     * @param line     the command
     * @param expected failures that are reported by one line; others are defects, and are reported by a stack trace
     * @return to be executed
     */
    public static CommandLine configured(final CommandLine line, final Predicate<Exception> expected) {
        // An argument that begins with @ is that argument, not the name of a file of arguments.
        line.setExpandAtFiles(false);
        splitQuotedStrings(line);
        line.setCaseInsensitiveEnumValuesAllowed(true);
        setVersion(line);
        line.setExecutionStrategy(parsed -> {
            refuseHelpOfUnknownSubcommand(parsed);
            return new CommandLine.RunLast().execute(parsed);
        });
        line.setParameterExceptionHandler((refused, given) -> {
            refused.getCommandLine().getErr().println(nameOf(refused.getCommandLine()) + ": " + refusal(refused));
            return CommandLine.ExitCode.USAGE;
        });
        line.setExecutionExceptionHandler((failure, commandLine, parsed) -> {
            final OutOfMemoryError shortage = shortageBehind(failure);
            if (shortage != null) {
                throw shortage;
            }
            if (expected.test(failure)) {
                commandLine.getErr().println(nameOf(commandLine) + ": " + oneLine(reason(failure)));
                return CommandLine.ExitCode.SOFTWARE;
            }
            throw failure;
        });
        return line;
    }

    /** For a request for help, picocli accepts all other words, and prints the help of the parent. */
    private static void refuseHelpOfUnknownSubcommand(final CommandLine.ParseResult parsed) {
        final CommandLine last = parsed.asCommandLineList().getLast();
        final List<String> unmatched = last.getUnmatchedArguments();
        if (!unmatched.isEmpty() && !last.getSubcommands().isEmpty()) {
            throw new UnmatchedArgumentException(last, unmatched);
        }
    }

    /** A literal quotation mark in a list is valid: picocli must not warn. */
    private static void splitQuotedStrings(final CommandLine line) {
        line.getCommandSpec().parser().splitQuotedStrings(true);
        line.getSubcommands().values().forEach(CommandRunner::splitQuotedStrings);
    }

    /**
     * Runs a command on the standard output of this process.
     *
     * @param line      of {@link #configured}
     * @param arguments as typed
     * @return the exit code: the command's own, or 1 if its result could not be written or memory ran out
     */
    public static int run(final CommandLine line, final String... arguments) {
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> {
            if (thrown instanceof final OutOfMemoryError shortage) {
                // The command may wait forever for this thread.
                Runtime.getRuntime().halt(outOfMemory(line, shortage));
            }
            line.getErr().print("Exception in thread \"" + thread.getName() + "\" ");
            thrown.printStackTrace(line.getErr());
        });
        return run(line, ResultStream.ofThisProcess(), arguments);
    }

    /** Runs a command on an output. */
    static int run(final CommandLine line, final ResultStream results, final String... arguments) {
        final PrintWriter out = new PrintWriter(results, true, System.out.charset());
        line.setOut(out);
        final int status;
        try {
            status = line.execute(arguments);
        } catch (final OutOfMemoryError shortage) {
            return outOfMemory(line, shortage);
        }
        out.flush();
        final String fault = results.fault();
        if (fault == null) {
            return status;
        }
        line.getErr().println(nameOf(lastOf(line)) + ": cannot write to standard output: " + oneLine(fault) +
            "; free some space or redirect it to another file");
        return CommandLine.ExitCode.SOFTWARE;
    }

    /**
     * Shortens a message that may contain user input to one line.
     *
     * @param message the message, possibly with control characters
     * @return one line of bounded length without control characters
     */
    public static String oneLine(final String message) {
        final StringBuilder line = new StringBuilder();
        message.codePoints().limit(LONGEST_LINE).map(character -> isPrintable(character) ? character : '?')
            .forEach(line::appendCodePoint);
        return message.codePointCount(0, message.length()) > LONGEST_LINE ? line + "..." : line.toString();
    }

    private static boolean isPrintable(final int character) {
        final int type = Character.getType(character);
        return type != Character.CONTROL && type != Character.LINE_SEPARATOR && type != Character.PARAGRAPH_SEPARATOR;
    }

    /** The name of the command with its parents, as the prefix of messages. */
    private static String nameOf(final CommandLine command) {
        return typed(command).substring("./".length());
    }

    /** The words that start a command, as they are typed. */
    private static String typed(final CommandLine command) {
        final String name = command.getCommandSpec().qualifiedName();
        return name.startsWith(LAUNCHER) ? name : LAUNCHER + " " + name;
    }

    /** The last parsed command: {@code tune plan}, not {@code tune}. */
    private static CommandLine lastOf(final CommandLine line) {
        final CommandLine.ParseResult parsed = line.getParseResult();
        return parsed == null ? line : parsed.asCommandLineList().getLast();
    }

    /** A command with only one command of its own does something without it, which its options tell. */
    private static String known(final CommandLine command) {
        final Set<String> names = command.getSubcommands().keySet();
        return names.size() > 1 ? "use one of " + String.join(", ", names) :
            "the only one is " + String.join("", names) + "; see '" + typed(command) + " --help'";
    }

    /** Messages of ringpoll name the valid values; those of picocli get a suggestion here. */
    private static String refusal(final ParameterException refused) {
        if (isUnknownSubcommand(refused)) {
            return "no command '" + oneLine(((UnmatchedArgumentException) refused).getUnmatched().getFirst()) + "': " +
                known(refused.getCommandLine());
        }
        // The position of a word counts those of the launcher, which means nothing to its user.
        // A user of commands does not need to know the types of Java.
        final String reason = oneLine(String.valueOf(refused.getMessage()))
            .replaceFirst("^(Unmatched argument) at index \\d+", "$1")
            .replaceFirst("option option (?=')", "option ")
            .replaceFirst("expected one of \\[.*] \\(case-insensitive\\) but was ('.*')$", "$1 is not " + alternatives(refused))
            .replaceFirst("(?<=') is not a double$", " is not a number, such as 1.5")
            .replaceFirst("(?<=') is not an int$", " is not a whole number up to " + Integer.MAX_VALUE)
            .replaceFirst("(?<=') is not a long$", " is not a whole number up to " + Long.MAX_VALUE);
        final boolean ours = refused.getClass() == ParameterException.class && refused.getArgSpec() == null;
        return ours ? reason :
            reason + suggestion(refused) + "see '" + typed(refused.getCommandLine()) + " --help'";
    }

    private static boolean isUnknownSubcommand(final ParameterException refused) {
        return refused instanceof final UnmatchedArgumentException unmatched && !unmatched.isUnknownOption() &&
            !refused.getCommandLine().getSubcommands().isEmpty();
    }

    /** The values of an option that has few of them, as its help prints them. */
    private static String alternatives(final ParameterException refused) {
        final List<String> values = new ArrayList<>();
        if (refused.getArgSpec() != null && refused.getArgSpec().completionCandidates() != null) {
            refused.getArgSpec().completionCandidates().forEach(values::add);
        }
        return Matcher.quoteReplacement(String.join(", ", values).replaceFirst(", (?!.*, )", " or "));
    }

    private static String suggestion(final ParameterException refused) {
        if (refused instanceof final UnmatchedArgumentException unmatched) {
            final List<String> similar = unmatched.getSuggestions();
            if (similar.contains(unmatched.getUnmatched().getFirst().replaceFirst("=.*", ""))) {
                return "; options come before '--': ";
            }
            if (!similar.isEmpty()) {
                final List<String> most = similar.subList(0, Math.min(MOST_SUGGESTIONS, similar.size()));
                return "; did you mean " + String.join(" or ", most) + "? ";
            }
        }
        return "; ";
    }

    private static String reason(final Exception failure) {
        if (failure instanceof final FileSystemException refused) {
            return refused.getMessage() + (refused.getReason() == null ? ": " + kind(refused) : "");
        }
        if (failure instanceof final UncheckedIOException wrapped && wrapped.getCause().toString().equals(wrapped.getMessage())) {
            return reason(wrapped.getCause());
        }
        if (failure instanceof final UnknownHostException unknown) {
            final String host = unknown.getMessage();
            return host + (host.contains(": ") ? "" : ": unknown host") + "; check the name, or use an IP address";
        }
        return String.valueOf(failure.getMessage());
    }

    /** The message of a file system exception without a reason is only the path. */
    private static String kind(final FileSystemException refused) {
        return switch (refused) {
            case final NoSuchFileException missing -> "no such file or folder";
            case final AccessDeniedException denied -> "access denied";
            case final FileAlreadyExistsException present -> "exists already";
            case final NotDirectoryException file -> "not a folder";
            case final DirectoryNotEmptyException full -> "a folder with files";
            default -> "it cannot be read or written";
        };
    }

    private static OutOfMemoryError shortageBehind(final Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof final OutOfMemoryError shortage) {
                return shortage;
            }
        }
        return null;
    }

    /** Allocates little: the heap is full. */
    private static int outOfMemory(final CommandLine line, final OutOfMemoryError shortage) {
        final String reason = String.valueOf(shortage.getMessage());
        final StringBuilder message = new StringBuilder(nameOf(lastOf(line)));
        message.append(": out of memory (").append(reason).append("): ");
        if (reason.contains("thread")) {
            message.append("allow more threads (ulimit -u, pids.max of the control group)");
        } else if (reason.contains("direct")) {
            message.append("allow more direct memory, for instance with RINGPOLL_JAVA_OPTS=-XX:MaxDirectMemorySize=1g");
        } else if (reason.contains("Metaspace") || reason.contains("class space")) {
            message.append("allow more memory for classes, for instance with RINGPOLL_JAVA_OPTS=-XX:MaxMetaspaceSize=256m");
        } else {
            message.append("the heap is limited to ").append(Runtime.getRuntime().maxMemory() >> 20);
            message.append(" MB; allow more, for instance with RINGPOLL_JAVA_OPTS=-Xmx1g");
        }
        line.getErr().println(message);
        return CommandLine.ExitCode.SOFTWARE;
    }

    private static void setVersion(final CommandLine line) {
        final String version = CommandRunner.class.getPackage().getImplementationVersion();
        final CommandSpec spec = line.getCommandSpec();
        spec.version("ringpoll " + (version == null ? "(not packaged)" : version));
        line.getSubcommands().values().forEach(CommandRunner::setVersion);
    }
}
