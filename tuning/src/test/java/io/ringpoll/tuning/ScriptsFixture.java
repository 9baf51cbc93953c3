package io.ringpoll.tuning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Runs the scripts for production machines on a tree in a folder of the test: below such a root they run no command. */
abstract class ScriptsFixture {
    static final Path SCRIPTS = Path.of("scripts").toAbsolutePath();
    static final String UNDO = "var/lib/ringpoll/undo/";
    static final String CPU = "sys/devices/system/cpu/";

    @TempDir
    Path folder;

    Path root;
    private Path fakes;
    final Map<String, String> environment = new TreeMap<>();

    /** The result of a script. */
    record Outcome(int exit, String out, String err) {
    }

    @BeforeEach
    void makeFakeCommands() throws IOException {
        root = Files.createDirectory(folder.resolve("root"));
        fakes = Files.createDirectory(folder.resolve("bin"));
        // Commands that could affect this machine are replaced by stubs that record the call.
        for (final String name : List.of("taskset", "numactl", "systemctl", "update-grub", "grubby", "setpriv", "sysctl")) {
            makeCommand(name, "echo \"CALLED " + name + " $*\"\n");
        }
    }

    /** A command that the scripts find before that of this machine. */
    void makeCommand(final String name, final String text) throws IOException {
        final Path fake = fakes.resolve(name);
        Files.writeString(fake, "#!/bin/sh\n" + text);
        Files.setPosixFilePermissions(fake, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    void expand(final RecordedTree tree) {
        tree.expand(root);
    }

    Outcome run(final String... arguments) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(arguments));
        command.set(0, SCRIPTS.resolve(arguments[0]).toString());
        final ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("ROOT", root.toString());
        builder.environment().putAll(environment);
        builder.environment().put("PATH", fakes + ":" + System.getenv("PATH"));
        final Path out = folder.resolve("out");
        final Path err = folder.resolve("err");
        final Process process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
        process.getOutputStream().close();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), "did not end: " + command);
        return new Outcome(process.exitValue(), Files.readString(out), Files.readString(err));
    }

    Outcome succeed(final String line) throws IOException, InterruptedException {
        final Outcome outcome = run(line.split(" "));
        assertEquals(0, outcome.exit(), () -> line + ": " + outcome);
        return outcome;
    }

    Map<String, String> snapshot() throws IOException {
        final Map<String, String> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (final Path file : all.filter(path -> Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)).toList()) {
                final String content = Files.readString(file, StandardCharsets.ISO_8859_1).stripTrailing();
                // The kernel would list all choices, the selected one in brackets.
                files.put(root.relativize(file).toString(), file.endsWith("transparent_hugepage/enabled")
                    ? content.replaceAll(".*\\[(.*)].*", "$1") : content);
            }
        }
        return files;
    }

    String content(final String path) throws IOException {
        return Files.readString(root.resolve(path)).strip();
    }

    /** Ends a script before each of its commands, counted from the first record, by the trap that bash runs before a command. */
    Outcome runUntil(final int step, final String signal, final String... arguments) throws Exception {
        final Path hook = folder.resolve("hook.bash");
        Files.writeString(hook, "steps=0\ntrap 'if [ -n \"${records:-}\" ]; then steps=$((steps + 1));"
            + " [ \"$steps\" != " + step + " ] || kill -" + signal + " $$; fi' DEBUG\nset -T\n");
        environment.put("BASH_ENV", hook.toString());
        try {
            return run(arguments);
        } finally {
            environment.remove("BASH_ENV");
        }
    }
}
