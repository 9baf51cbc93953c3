package io.ringpoll.cli;

import io.ringpoll.cli.fuzz.FuzzCommand;
import io.ringpoll.cli.idle.IdleCommand;
import io.ringpoll.cli.latency.LatencyCommand;
import io.ringpoll.cli.options.CommandRunner;
import io.ringpoll.cli.options.Execution;
import io.ringpoll.cli.replicate.ReplicateCommand;
import io.ringpoll.cli.run.RunCommand;
import io.ringpoll.cli.stat.StatCommand;
import io.ringpoll.cli.suite.BenchCommand;
import io.ringpoll.cli.throughput.ThroughputCommand;
import io.ringpoll.cli.torture.TortureCommand;
import io.ringpoll.cli.tuning.DoctorCommand;
import io.ringpoll.cli.tuning.TuneCommand;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command line: {@code ./ringpoll COMMAND}. The launcher script has further commands, which need no build; the help text
 * lists all of them.
 *
 * <p>Exit codes of every command: 0 for success; 1 for a failure, or a failed check; 2 for wrong usage.
 */
@Command(name = "./ringpoll")
public final class Ringpoll implements Runnable {
    private static final String HELP = "help.txt";
    private static final Map<String, Class<?>> COMMANDS = commandsByName();

    @Spec
    private CommandSpec spec;

    @Option(names = {"-h", "--help"}, description = "Print the list of commands.")
    private boolean help;

    /** Created by picocli. */
    Ringpoll() {
    }

    /**
     * Runs a command and ends the process with its exit code.
     *
     * @param words command line, starting with the name of the command
     */
    public static void main(final String[] words) {
        System.exit(CommandRunner.run(commandLine(words), words));
    }

    /**
     * Creates the command line for these arguments, with only the command that they name, because the set-up of each costs time;
     * with all commands if they name none.
     *
     * @param words command line
     * @return to be executed with the same arguments
     */
    public static CommandLine commandLine(final String... words) {
        final CommandLine line = new CommandLine(new Ringpoll());
        final Class<?> named = words.length == 0 ? null : COMMANDS.get(words[0]);
        if (named == null) {
            COMMANDS.forEach(line::addSubcommand);
        } else {
            line.addSubcommand(words[0], named);
        }
        return Execution.configured(line);
    }

    /**
     * The commands.
     *
     * @return their classes by name, in the order of the help text
     */
    public static Map<String, Class<?>> commands() {
        return COMMANDS;
    }

    @Override
    public void run() {
        if (!help) {
            throw new ParameterException(spec.commandLine(), "no command: ./ringpoll help lists them");
        }
        spec.commandLine().getOut().print(helpText());
        spec.commandLine().getOut().flush();
    }

    private static String helpText() {
        try (InputStream text = Ringpoll.class.getResourceAsStream(HELP)) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, Class<?>> commandsByName() {
        final Map<String, Class<?>> commands = new LinkedHashMap<>();
        commands.put("run", RunCommand.class);
        commands.put("bench", BenchCommand.class);
        commands.put("latency", LatencyCommand.class);
        commands.put("throughput", ThroughputCommand.class);
        commands.put("idle", IdleCommand.class);
        commands.put("replicate", ReplicateCommand.class);
        commands.put("torture", TortureCommand.class);
        commands.put("fuzz", FuzzCommand.class);
        commands.put("stat", StatCommand.class);
        commands.put("doctor", DoctorCommand.class);
        commands.put("tune", TuneCommand.class);
        return Collections.unmodifiableMap(commands);
    }
}
