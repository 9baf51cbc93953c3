package io.ringpoll.cli.options;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command of another JVM with the class path of this one, the flags that ringpoll needs, and its system properties. */
public final class ChildCommand {
    private ChildCommand() {
    }

    /** Composes the command; the other options of this JVM, such as agents of the build, are left out. */
    public static List<String> of(final List<String> jvmOptions, final Class<?> main, final String... arguments) {
        final List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(argument -> argument.startsWith("--") || argument.startsWith("-Dringpoll.")).toList());
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return command;
    }
}
