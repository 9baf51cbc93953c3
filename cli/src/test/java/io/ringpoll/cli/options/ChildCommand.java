package io.ringpoll.cli.options;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command of another JVM with the class path of this one, the flags that ringpoll needs, and its system properties. */
public final class ChildCommand {
    /** Of a JVM that ends before the optimizing compiler would pay off. */
    public static final String SHORT_LIVED = "-XX:TieredStopAtLevel=1";
    /** Of a JVM whose compiled code is tested, also if it is a child of one that is short-lived. */
    public static final String ALL_COMPILERS = "-XX:TieredStopAtLevel=4";

    private ChildCommand() {
    }

    /**
     * Composes the command of a short-lived JVM; the other options of this JVM, such as agents of the build, are left out.
     */
    public static List<String> of(final List<String> jvmOptions, final Class<?> main, final String... arguments) {
        final List<String> command = new ArrayList<>(java());
        command.addAll(jvmOptions);
        command.addAll(ChildArchive.options());
        command.add(main.getName());
        command.addAll(List.of(arguments));
        return command;
    }

    /** The command without a class path. */
    static List<String> java() {
        final List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(argument -> argument.startsWith("--") || argument.startsWith("-Dringpoll.")).toList());
        command.add(SHORT_LIVED);
        return command;
    }
}
