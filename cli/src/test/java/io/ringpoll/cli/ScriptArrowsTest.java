package io.ringpoll.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The arrows between modules, in scripts, Makefiles, C sources and POMs: a file names paths and packages of modules that its own
 * depends on, and only {@code cli} starts the launcher.
 */
@Timeout(60)
class ScriptArrowsTest {
    private static final Path ROOT = Path.of(System.getProperty("user.dir")).getParent();
    private static final String MODULES = "(" + String.join("|", ArchitectureTest.ARROWS.keySet()) + ")";
    private static final Pattern NAMED = Pattern.compile("(?<![\\w.-])" + MODULES + "/|\\bio\\.ringpoll\\." + MODULES + "\\b");
    private static final Pattern LAUNCHER = Pattern.compile("\\$\\w+(/\\.\\.)*/ringpoll(?![-\\w/])");

    @TempDir
    private Path folder;

    @Test
    void shouldNameModulesAlongTheArrowsOnly() throws IOException {
        assertEquals(List.of(), faults(ROOT));
    }

    @Test
    void shouldReadTheScripts() throws IOException {
        final Set<String> read = new TreeSet<>();
        for (final String module : ArchitectureTest.ARROWS.keySet()) {
            files(ROOT.resolve(module)).forEach(file -> read.add(ROOT.relativize(file).toString()));
        }
        assertTrue(read.containsAll(Set.of("verify/softroce/softroce", "loopback/src/main/c/Makefile", "poller/pom.xml",
            "cli/sanitizers/suite", "tuning/scripts/lib.sh")), read.toString());
    }

    @Test
    void shouldFindAScriptThatStartsAProgramOfAModuleAboveIt() throws IOException {
        write("verify/x/run", "java -cp \"$root/cli/target/app/*\" Main");
        write("bench/x/run", "java -cp \"$root/bench/target/classes\" io.ringpoll.cli.Ringpoll");
        write("poller/x/run", "exec \"$root/ringpoll\" run");
        write("cli/x/run", "\"$root/ringpoll\" run; \"$root/verify/softroce/softroce\" -- true");
        write("verify/y/run", "echo \"type './ringpoll run'; results are in $out/ringpoll/logs\"; ls $root/native/target");
        write("verify/target/run", "ls ../cli/target");
        assertEquals(List.of("bench/x/run:1: bench -> cli", "poller/x/run:1: poller -> cli", "verify/x/run:1: verify -> cli"),
            faults(folder));
    }

    private void write(final String file, final String line) throws IOException {
        Files.createDirectories(folder.resolve(file).getParent());
        Files.writeString(folder.resolve(file), line + '\n');
    }

    private static List<String> faults(final Path root) throws IOException {
        final List<String> faults = new ArrayList<>();
        for (final String module : new TreeSet<>(ArchitectureTest.ARROWS.keySet())) {
            for (final Path file : files(root.resolve(module))) {
                final String[] lines = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).split("\n");
                for (int i = 0; i < lines.length; i++) {
                    for (final String other : named(lines[i])) {
                        if (!other.equals(module) && !ArchitectureTest.ARROWS.get(module).contains(other)) {
                            faults.add(root.relativize(file) + ":" + (i + 1) + ": " + module + " -> " + other);
                        }
                    }
                }
            }
        }
        return faults;
    }

    /** The modules that a line depends on. */
    private static Set<String> named(final String line) {
        final Set<String> modules = new TreeSet<>();
        final Matcher named = NAMED.matcher(line);
        while (named.find()) {
            modules.add(named.group(1) == null ? named.group(2) : named.group(1));
        }
        if (LAUNCHER.matcher(line).find()) {
            modules.add("cli");
        }
        return modules;
    }

    /** The sources of a module, without Java, which ArchitectureTest checks. */
    private static List<Path> files(final Path module) throws IOException {
        if (!Files.isDirectory(module)) {
            return List.of();
        }
        try (Stream<Path> all = Files.walk(module)) {
            return all.filter(Files::isRegularFile)
                .filter(file -> !file.toString().endsWith(".java") && !("/" + module.relativize(file)).contains("/target/"))
                .sorted().toList();
        }
    }
}
