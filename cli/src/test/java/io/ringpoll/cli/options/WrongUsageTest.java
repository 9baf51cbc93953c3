package io.ringpoll.cli.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.cli.Ringpoll;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Wrong values for every option of every command: exit code 2 and one line that names the option.
 *
 * <p>Commands are read from the root, options from the model of picocli, so a new option is tested without a change here.
 */
@Timeout(120)
class WrongUsageTest {
    private static final List<String> NO_NUMBERS =
        List.of("", " ", "x", "NaN", "-1", "-0.5", "1e999", "99999999999999999999", "0x", "1 2", "\u0007");
    private static final List<String> NO_WORDS = List.of("", " ", "no such thing", "\u0007", ",", "=", "-");
    private static final List<String> EXTREMES = List.of("0", "2147483647", "9223372036854775807", "1e-300", "1e300");
    private static final Set<Class<?>> NUMBERS = Set.of(
        int.class, long.class, double.class, Integer.class, Long.class, Double.class);
    /** Any whole number is a seed. */
    private static final Set<String> SIGNED = Set.of("--seed");
    /** Zero threads of a kind is valid; the targets of the fuzzer are known only when the device is open (FuzzCommandTest). */
    private static final Set<String> FREE = Set.of("--pollers", "--handlers", "--applications", "--target");
    /** Where 0 has a meaning of its own: nothing before, nothing between, the first. Of all commands, or of the named one. */
    private static final Set<String> ZERO_IS_MEANT =
        Set.of("--warm-up", "--lead-in", "--every", "--id", "--seed", "--numa-node", "--settle", "replicate --payload");
    private static final List<String> SERVER = List.of("--role", "server", "--peers", "127.0.0.1:7000", "--dir", "folder");
    /** Other options that an option depends on. */
    private static final List<String> BEFORE = List.of("--before", "no-such-folder/new-file");
    private static final Map<String, List<String>> BESIDE = Map.ofEntries(
        Map.entry("replicate --id", SERVER),
        Map.entry("replicate --dir", List.of("--role", "server", "--peers", "127.0.0.1:7000")),
        Map.entry("replicate --peers", List.of("--role", "server", "--dir", "folder")),
        Map.entry("replicate --election", SERVER),
        Map.entry("replicate --every", List.of("--role", "client", "--peers", "127.0.0.1:7000", "--acknowledged", "file")),
        Map.entry("replicate --acknowledged", List.of("--role", "client", "--peers", "127.0.0.1:7000")),
        Map.entry("replicate --variant", List.of("--compare")),
        Map.entry("latency --size", List.of("--over", "loopback")),
        Map.entry("latency --operation", List.of("--over", "loopback")),
        Map.entry("throughput --address", List.of("--role", "client")),
        Map.entry("throughput --operation", List.of("--role", "client")),
        Map.entry("throughput --size", List.of("--role", "client")),
        Map.entry("throughput --depth", List.of("--role", "client")),
        Map.entry("verify --undo", List.of("true")),
        Map.entry("verify --settle", BEFORE),
        Map.entry("verify --rounds", BEFORE),
        Map.entry("verify --window", BEFORE),
        Map.entry("verify --rate", BEFORE),
        Map.entry("verify --warm-up", BEFORE),
        Map.entry("verify --pin", BEFORE),
        Map.entry("verify --numa-node", BEFORE),
        Map.entry("verify --wait", BEFORE));

    /** Only read; each call of a command has a command line of its own. */
    private static final Map<Class<?>, CommandLine> MODELS = new HashMap<>();

    @TempDir
    private Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    static List<Class<?>> commands() {
        return List.copyOf(Ringpoll.commands().values());
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldRefuseWrongValuesInOneLine(final Class<?> command) throws Exception {
        final List<String> problems = new ArrayList<>();
        for (final List<String> path : paths(command)) {
            for (final ArgSpec each : specOf(command, path).args()) {
                if (each.arity().max() > 0) {
                    for (final String wrong : wrongValues(each)) {
                        problems.addAll(problemsOf(command, path, each, wrong, true));
                    }
                    for (final String extreme : EXTREMES) {
                        problems.addAll(problemsOf(command, path, each, extreme, false));
                    }
                    if (each instanceof final OptionSpec option) {
                        problems.addAll(problemsOf(command, path, option, List.of(option.longestName()), true));
                    }
                } else if (each instanceof final OptionSpec option && !option.usageHelp() && !option.versionHelp()) {
                    problems.addAll(problemsOf(command, path, option, List.of(option.longestName() + "=no such thing"), true));
                }
            }
        }
        assertEquals(List.of(), problems);
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldRefuseUnknownAndRepeatedOptionsInOneLine(final Class<?> command) throws Exception {
        final List<String> problems = new ArrayList<>();
        for (final List<String> path : paths(command)) {
            final CommandSpec spec = specOf(command, path);
            for (final String unknown : List.of("--frobnicate", "--=", "---", "-Z", "\u0007", "@file", "extra word")) {
                if (unknown.startsWith("-") || spec.positionalParameters().isEmpty()) {
                    problems.addAll(problemsOf(command, path, null, List.of(unknown), true));
                }
            }
            for (final OptionSpec option : spec.options()) {
                if (option.arity().max() > 0 && !option.isMultiValue()) {
                    final String given = option.longestName() + "=1";
                    problems.addAll(problemsOf(command, path, option, List.of(given, given), true));
                }
            }
        }
        assertEquals(List.of(), problems);
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldRefuseZeroWhereItHasNoMeaning(final Class<?> command) throws Exception {
        final List<String> problems = new ArrayList<>();
        for (final List<String> path : paths(command)) {
            for (final ArgSpec each : specOf(command, path).args()) {
                final Class<?> type = each.isMultiValue() ? each.auxiliaryTypes()[0] : each.type();
                if (NUMBERS.contains(type) && !ZERO_IS_MEANT.contains(nameOf(each))
                    && !ZERO_IS_MEANT.contains(specOf(command, path).name() + " " + nameOf(each))) {
                    problems.addAll(problemsOf(command, path, each, "0", true));
                }
            }
        }
        assertEquals(List.of(), problems);
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldNotTakeZeroForAnOptionThatIsNotGiven(final Class<?> command) throws Exception {
        final List<String> problems = new ArrayList<>();
        for (final List<String> path : paths(command)) {
            for (final ArgSpec each : specOf(command, path).args()) {
                if (NUMBERS.contains(each.type()) && each.type().isPrimitive() && each.defaultValue() == null) {
                    problems.add(specOf(command, path).name() + " " + nameOf(each) + ": 0 and nothing are the same");
                }
            }
        }
        assertEquals(List.of(), problems);
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldPointToTheHelpForUnknownOptions(final Class<?> command) throws Exception {
        for (final List<String> path : paths(command)) {
            err.getBuffer().setLength(0);
            assertEquals(2, execute(command, Stream.concat(path.stream(), Stream.of("--frobnicate")).toList()));
            assertTrue(err.toString().strip().endsWith(" --help'"), err::toString);
        }
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldPrintHelp(final Class<?> command) throws Exception {
        for (final List<String> path : paths(command)) {
            out.getBuffer().setLength(0);
            assertEquals(0, execute(command, Stream.concat(path.stream(), Stream.of("--help")).toList()), err::toString);
            for (final OptionSpec option : specOf(command, path).options()) {
                assertEquals(option.hidden(), !out.toString().contains(option.longestName()), option.longestName());
                assertFalse(option.description().length == 0, option.longestName());
            }
            assertEquals("", err.toString());
        }
    }

    private List<String> wrongValues(final ArgSpec each) throws IOException {
        if (SIGNED.contains(nameOf(each))) {
            return List.of("", "x", "1.5", "99999999999999999999");
        }
        final Class<?> type = each.isMultiValue() ? each.auxiliaryTypes()[0] : each.type();
        if (NUMBERS.contains(type)) {
            return NO_NUMBERS;
        }
        if (type == Path.class) {
            final Path file = folder.resolve("file");
            Files.writeString(file, "content");
            return each.paramLabel().equals("FILE") ? List.of("", folder.toString(), file + "/below", "\u0000") :
                List.of("", file.toString(), file + "/below", "\u0000");
        }
        return FREE.contains(nameOf(each)) ? List.of() : NO_WORDS;
    }

    private List<String> problemsOf(
        final Class<?> command, final List<String> path, final ArgSpec each, final String value, final boolean wrong)
        throws Exception {
        return problemsOf(command, path, each,
            List.of(each instanceof final OptionSpec option ? option.longestName() + "=" + value : value), wrong);
    }

    private List<String> problemsOf(
        final Class<?> command, final List<String> path, final ArgSpec each, final List<String> typed, final boolean wrong)
        throws Exception {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        final String commandName = specOf(command, path).name();
        final String name = each == null ? "" : nameOf(each);
        final List<String> words = new ArrayList<>(path);
        words.addAll(BESIDE.getOrDefault(commandName + " " + name, List.of()));
        words.addAll(typed);
        final String shown = commandName + " " + typed;
        final int status;
        try {
            status = execute(command, words);
        } catch (final RuntimeException | Error thrown) {
            return List.of(shown + " throws " + thrown);
        }
        final String said = err.toString();
        final List<String> problems = new ArrayList<>();
        if (status == 0 ? wrong : status != CommandLine.ExitCode.USAGE) {
            problems.add(shown + " ends with " + status + ": " + said);
        } else if (status != 0 && said.lines().count() != 1) {
            problems.add(shown + " prints: " + said);
        } else if (status != 0 && !said.startsWith("ringpoll")) {
            problems.add(shown + " does not name the command: " + said);
        } else if (status != 0 && !said.contains(name)) {
            problems.add(shown + " does not name the option: " + said);
        } else if (status != 0 && !out.toString().isEmpty()) {
            problems.add(shown + " prints: " + out);
        }
        return problems;
    }

    private int execute(final Class<?> command, final List<String> words) throws Exception {
        final CommandLine line = commandLine(command);
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        line.setExecutionStrategy(parsed -> {
            final CommandLine last = parsed.asCommandLineList().getLast();
            if (parsed.asCommandLineList().stream().noneMatch(CommandLine::isUsageHelpRequested) &&
                last.getCommand() instanceof final CheckedOptions checked) {
                checked.check();
                return 0;
            }
            return new CommandLine.RunLast().execute(parsed);
        });
        return line.execute(words.toArray(String[]::new));
    }

    /** As created by the main method of the command. */
    private static CommandLine commandLine(final Class<?> command) throws Exception {
        return Execution.commandLine(CommandLine.defaultFactory().create(command));
    }

    /** The command and its subcommands, as command lines. */
    private static List<List<String>> paths(final Class<?> command) throws Exception {
        final List<List<String>> paths = new ArrayList<>();
        collect(commandLine(command), List.of(), paths);
        return paths;
    }

    private static void collect(final CommandLine line, final List<String> path, final List<List<String>> paths) {
        paths.add(path);
        line.getSubcommands().forEach((name, sub) -> collect(sub, Stream.concat(path.stream(), Stream.of(name)).toList(), paths));
    }

    private static CommandSpec specOf(final Class<?> command, final List<String> path) throws Exception {
        CommandLine line = MODELS.get(command);
        if (line == null) {
            line = commandLine(command);
            MODELS.put(command, line);
        }
        for (final String name : path) {
            line = line.getSubcommands().get(name);
        }
        return line.getCommandSpec();
    }

    private static String nameOf(final ArgSpec each) {
        return each instanceof final OptionSpec option ? option.longestName() : "";
    }
}
