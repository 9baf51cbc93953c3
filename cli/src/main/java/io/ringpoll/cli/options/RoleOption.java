package io.ringpoll.cli.options;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The part of a command that a process runs: all of it, or one side of it. */
public final class RoleOption {
    /** The sides. */
    public enum Side {
        /** Server and client. */
        BOTH,
        /** The server, or one of several. */
        SERVER,
        /** The client. */
        CLIENT
    }

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
        names = "--role", paramLabel = "SIDE", defaultValue = "both",
        description = "Both sides in one process, or server or client for processes of their own (${DEFAULT-VALUE}).")
    private String text;

    /** Created by picocli. */
    public RoleOption() {
    }

    /**
     * The side of this process.
     *
     * @return {@link Side#BOTH} by default
     * @throws ParameterException in one line if there is no such side
     */
    public Side side() {
        for (final Side candidate : Side.values()) {
            if (candidate.name().toLowerCase(Locale.ROOT).equals(text)) {
                return candidate;
            }
        }
        throw new ParameterException(command.commandLine(), "--role '" + text + "' is not both, server or client");
    }

    /**
     * Refuses options of the client in a server, which would ignore them.
     *
     * @param names of the options
     * @throws ParameterException in one line, with the given ones, if this process is a server
     */
    public void requireOfClient(final String... names) {
        if (side() == Side.SERVER) {
            final List<String> given =
                Stream.of(names).filter(command.commandLine().getParseResult()::hasMatchedOption).toList();
            Execution.require(command, given.isEmpty(), "for --role client, not for --role server: " + String.join(", ", given));
        }
    }

    /**
     * Whether both sides are in this process.
     *
     * @return false if this process is a server or a client
     * @throws ParameterException in one line if there is no such side
     */
    public boolean isBoth() {
        return side() == Side.BOTH;
    }
}
