package io.ringpoll.cli.pages;

import io.ringpoll.cli.Ringpoll;
import io.ringpoll.cli.options.CheckedOptions;
import io.ringpoll.cli.options.Execution;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** The commands of the launcher with their options: from the model of picocli, or from the text of a script. */
final class CommandLines {
    private static final Pattern ENTRY = Pattern.compile("(?m)^  ([a-z-]+(?: \\| [a-z-]+)*)\\) (.*);;$");
    private static final Pattern SHOWN = Pattern.compile("\\./ringpoll[ ]([a-z]+)((?:(?!\\./ringpoll)[^`\n#|])*)");
    /** A word that the reader replaces, as FOLDER, or that a shell does. */
    private static final Pattern PLACEHOLDER = Pattern.compile("(^|[\\s=])[A-Z]{2,}($|\\s)|\\$");
    private static final Pattern OPTION = Pattern.compile("(?<=\\s)--[a-z][a-z-]*");
    /** As a shell reads it: quotation marks enclose spaces. */
    private static final Pattern WORD = Pattern.compile("(?:[^\\s\"]|\"[^\"]*\")+");
    /** The option patterns of the commands that are scripts. */
    private static final Map<String, String> SCRIPTS =
        Map.of("softroce", "verify/softroce", "mutate", "verify/mutation/src/main/java");

    private final Map<String, CommandSpec> models = new TreeMap<>();
    private final Map<String, String> scripts = new TreeMap<>();

    CommandLines() throws IOException {
        Ringpoll.commands().forEach((name, command) -> models.put(name, new CommandLine(command).getCommandSpec()));
        final Matcher entry = ENTRY.matcher(Files.readString(Page.ROOT.resolve("ringpoll")));
        while (entry.find()) {
            for (final String name : entry.group(1).split(" \\| ")) {
                scripts.put(name, script(name));
            }
        }
    }

    private static String script(final String name) throws IOException {
        final StringBuilder text = new StringBuilder();
        final Path folder = Page.ROOT.resolve(SCRIPTS.getOrDefault(name, "ringpoll"));
        try (Stream<Path> files = Files.walk(folder)) {
            for (final Path file : files.filter(Files::isRegularFile).toList()) {
                text.append(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
            }
        }
        return text.toString();
    }

    /** The faults of all command lines in a text: unknown commands, subcommands and options, and values that are refused. */
    List<String> faults(final String text) {
        final List<String> faults = new ArrayList<>();
        final Matcher shown = SHOWN.matcher(text);
        while (shown.find()) {
            final String arguments = shown.group(2).split(" -- ", 2)[0];
            final String fault = fault(shown.group(1), arguments);
            if (fault != null) {
                faults.add(shown.group().strip() + ": " + fault);
            }
        }
        return faults;
    }

    private String fault(final String command, final String arguments) {
        if (scripts.containsKey(command)) {
            return unknownOption(arguments, option -> scripts.get(command).contains(option));
        }
        CommandSpec model = models.get(command);
        if (model == null) {
            return "no command '" + command + "'";
        }
        final String subcommand = arguments.strip().split("[\\s,.]", 2)[0];
        if (model.subcommands().containsKey(subcommand)) {
            model = model.subcommands().get(subcommand).getCommandSpec();
        }
        final String unknown = unknownOption(arguments, model.optionsMap()::containsKey);
        return unknown != null || PLACEHOLDER.matcher(arguments).find() ? unknown : refused(command, arguments);
    }

    /** The reason for which the command refuses its arguments; null if it accepts them. */
    private static String refused(final String command, final String arguments) {
        final String[] words =
            WORD.matcher(arguments).results().map(word -> word.group().replace("\"", "")).toArray(String[]::new);
        final CommandLine line = Execution.commandLine(Ringpoll.commands().get(command));
        try {
            line.parseArgs(words);
            if (line.getCommand() instanceof CheckedOptions options) {
                options.check();
            }
            return null;
        } catch (final ParameterException refusal) {
            return refusal.getMessage();
        }
    }

    private static String unknownOption(final String arguments, final Predicate<String> known) {
        return OPTION.matcher(arguments).results().map(MatchResult::group).filter(known.negate())
            .findFirst().map(option -> "no option " + option).orElse(null);
    }

    /** The number of commands of the launcher. */
    int size() {
        return models.size() + scripts.size();
    }
}
