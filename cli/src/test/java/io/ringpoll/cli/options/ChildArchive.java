package io.ringpoll.cli.options;

import io.ringpoll.cli.Ringpoll;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/**
 * The class path of child JVMs, and an archive of the classes that commands load from it: with one, a JVM starts in two thirds of
 * the CPU time. It is made when a test starts the first child, if the property {@value #FOLDER} names a folder for it, which pays
 * off for many children only. Class data sharing takes no classes from folders: they become jars.
 */
final class ChildArchive {
    private static final String FOLDER = "ringpoll.child.archive";
    private static final int BOUND_SECONDS = 240;
    private static final List<String> CALLS = List.of(
        "run --device loopback --wait block --warm-up 0 --operations 1000",
        "replicate --log disk --warm-up 0 --seconds 1 --rounds 1",
        "latency --warm-up 0 --iterations 3 --lead-in 5",
        "throughput --warm-up 0 --rounds 1 --window 10 --lead-in 10");

    private ChildArchive() {
    }

    /** The options of a child's class path. */
    static List<String> options() {
        return Made.OPTIONS;
    }

    private static final class Made {
        static final List<String> OPTIONS = make();

        private static List<String> make() {
            final String classPath = System.getProperty("java.class.path");
            final String folder = System.getProperty(FOLDER);
            try {
                return folder == null ? List.of("-cp", classPath) : make(classPath, Path.of(folder));
            } catch (final IOException e) {
                throw new UncheckedIOException(e);
            } catch (final InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        private static List<String> make(final String classPath, final Path folder) throws IOException, InterruptedException {
            Files.createDirectories(folder);
            final List<String> options = List.of("-cp", jars(classPath, folder));
            final Path archive = folder.resolve("classes.jsa");
            final Path log = folder.resolve("log");
            final List<String> command = new ArrayList<>(ChildCommand.java());
            command.add("-XX:ArchiveClassesAtExit=" + archive);
            command.addAll(options);
            command.add(Training.class.getName());
            final Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile())
                .start();
            if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IllegalStateException("no archive of classes: " + Files.readString(log));
            }
            // Without a message where the options of a child leave it no use of the archive.
            return Stream.concat(options.stream(),
                Stream.of("-XX:SharedArchiveFile=" + archive, "-Xlog:cds=off", "-Xlog:aot=off")).toList();
        }

        private static String jars(final String classPath, final Path folder) {
            final List<String> jars = new ArrayList<>();
            for (final String entry : classPath.split(File.pathSeparator)) {
                jars.add(Files.isDirectory(Path.of(entry)) ? jar(entry, folder.resolve(jars.size() + ".jar")) : entry);
            }
            return String.join(File.pathSeparator, jars);
        }

        private static String jar(final String classes, final Path jar) {
            final int status = ToolProvider.findFirst("jar").orElseThrow().run(System.out, System.err, "--create",
                "--no-compress", "--file", jar.toString(), "-C", classes, ".");
            if (status != 0) {
                throw new IllegalStateException("jar of " + classes + " ends with " + status);
            }
            return jar.toString();
        }
    }

    /** The process whose classes are archived. */
    static final class Training {
        private Training() {
        }

        /**
         * Runs commands.
         *
         * @param arguments not used
         */
        public static void main(final String... arguments) {
            final PrintStream out = System.out;
            for (final String call : CALLS) {
                final String[] words = call.split(" ");
                out.println(call + " ends with " + Ringpoll.commandLine(words).execute(words));
            }
            System.exit(0);
        }
    }
}
