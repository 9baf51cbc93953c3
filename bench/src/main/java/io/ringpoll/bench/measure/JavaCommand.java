package io.ringpoll.bench.measure;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command of another JVM with the options and the class path of this one. */
public final class JavaCommand {
    private JavaCommand() {
    }

    /**
     * Composes the command.
     *
     * @param words a main class and its arguments
     * @return for {@link ProcessBuilder#ProcessBuilder(List)}
     */
    public static List<String> of(final List<String> words) {
        return of(List.of(), words);
    }

    /**
     * Composes the command, with further options.
     *
     * @param options of the JVM, after those of this one, which they replace
     * @param words   a main class and its arguments
     * @return for {@link ProcessBuilder#ProcessBuilder(List)}
     */
    public static List<String> of(final List<String> options, final List<String> words) {
        final List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(words);
        return command;
    }
}
