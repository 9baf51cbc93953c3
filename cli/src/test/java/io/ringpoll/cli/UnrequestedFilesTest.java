package io.ringpoll.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.cli.options.ChildCommand;
import io.ringpoll.cli.options.CommandCalls;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Commands write files only where the user asked for them. */
@Timeout(300)
class UnrequestedFilesTest {
    private static final int BOUND_SECONDS = 240;
    /** Each command without an option that names a file or a folder, as short as possible, and its exit codes. */
    private static final Map<String, Set<Integer>> CALLS = calls();

    @TempDir
    private Path empty;

    private static Map<String, Set<Integer>> calls() {
        final Map<String, Set<Integer>> calls = new LinkedHashMap<>();
        calls.put("run --operations 1000 --warm-up 0", Set.of(0));
        calls.put("bench --glance --only counters", Set.of(0));
        calls.put("latency --rate 1000 --duration 0.1 --warm-up 0", Set.of(0));
        // 1 if no turn counts, as on a loaded machine.
        calls.put("throughput --rounds 1 --warm-up 0 --window 10 --lead-in 10 --regime close", Set.of(0, 1));
        calls.put("idle --seconds 1 --wake-ups 1", Set.of(0));
        calls.put("replicate --seconds 1 --warm-up 0 --rounds 1 --log disk", Set.of(0));
        // It needs folders.
        calls.put("replicate verify", Set.of(2));
        calls.put("torture --scenes 1", Set.of(0));
        calls.put("fuzz --inputs 1", Set.of(0));
        // Nothing runs in an empty folder of counters.
        calls.put("stat --folder .", Set.of(1));
        calls.put("doctor", Set.of(0));
        calls.put("tune plan", Set.of(0));
        calls.put("tune jitter --seconds 0.1", Set.of(0));
        calls.put("tune verify --rounds 1 --window 10 --settle 0 --warm-up 0.05 -- true", Set.of(0));
        return calls;
    }

    /** The process in the empty folder: runs the commands and prints a line for each that leaves a file, or fails. */
    static final class Calls {
        private Calls() {
        }

        /**
         * Runs the commands.
         *
         * @param arguments not used
         * @throws IOException if the folder cannot be read
         */
        public static void main(final String... arguments) throws IOException {
            final PrintStream out = System.out;
            final Set<String> known = new TreeSet<>();
            for (final Map.Entry<String, Set<Integer>> call : CALLS.entrySet()) {
                final CommandCalls calls = new CommandCalls(Ringpoll::commandLine);
                final int status = calls.execute(call.getKey().split(" "));
                if (!call.getValue().contains(status)) {
                    out.println("wrong: " + call.getKey() + " ends with " + status + ": " + calls);
                }
                try (Stream<Path> files = Files.walk(Path.of("")).skip(1)) {
                    files.map(Path::toString).filter(known::add)
                        .forEach(file -> out.println("wrong: " + call.getKey() + " leaves " + file));
                }
            }
            out.println("end");
            System.exit(0);
        }
    }

    @Test
    void shouldCallEveryCommand() throws Exception {
        final Set<String> missing = new TreeSet<>();
        for (final Map.Entry<String, Class<?>> command : Ringpoll.commands().entrySet()) {
            collect(command.getKey(), new CommandLine(CommandLine.defaultFactory().create(command.getValue())), missing);
        }
        missing.removeIf(command -> CALLS.keySet().stream().anyMatch(call -> (call + " ").startsWith(command + " ")));
        assertEquals(Set.of(), missing);
    }

    private static void collect(final String name, final CommandLine line, final Set<String> names) {
        names.add(name);
        line.getSubcommands().forEach((subName, sub) -> collect(name + " " + subName, sub, names));
    }

    @Test
    void shouldLeaveTheCurrentFolderEmpty() throws IOException, InterruptedException {
        final Process process = new ProcessBuilder(ChildCommand.of(List.of(), Calls.class))
            .directory(empty.toFile()).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), output);
        assertTrue(output.endsWith("end\n"), output);
        assertEquals(List.of(), output.lines().filter(line -> line.startsWith("wrong: ")).toList(), output);
        try (Stream<Path> files = Files.list(empty)) {
            assertEquals(List.of(), files.toList());
        }
    }
}
