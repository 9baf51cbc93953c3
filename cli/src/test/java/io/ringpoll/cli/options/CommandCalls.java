package io.ringpoll.cli.options;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine;

/** Calls of a command in this process, and the output of the last one. */
public final class CommandCalls {
    private final Function<String[], CommandLine> command;
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    /**
     * Prepares calls.
     *
     * @param command creates the command line for arguments
     */
    public CommandCalls(final Function<String[], CommandLine> command) {
        this.command = command;
    }

    /**
     * Calls of one command, without the launcher's root.
     *
     * @param command creates it; each call has its own
     * @return for calls
     */
    public static CommandCalls of(final Supplier<?> command) {
        return new CommandCalls(arguments -> Execution.commandLine(command.get()));
    }

    /**
     * Calls the command.
     *
     * @param arguments its options and parameters
     * @return the exit code
     */
    public int execute(final String... arguments) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return command.apply(arguments).setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true)).execute(arguments);
    }

    /**
     * Standard output.
     *
     * @return its text
     */
    public String out() {
        return out.toString();
    }

    /**
     * Standard error.
     *
     * @return its text
     */
    public String err() {
        return err.toString();
    }

    /**
     * Standard output as JSON.
     *
     * @return the document
     * @throws IOException if it is not JSON
     */
    public JsonNode json() throws IOException {
        return new ObjectMapper().readTree(out());
    }

    @Override
    public String toString() {
        return out + "\n" + err;
    }
}
