package io.ringpoll.cli.options;

import io.ringpoll.cli.Ringpoll;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
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
    /** Without those that fail on a busy machine, such as throughput. */
    private static final List<String> CALLS = List.of(
        "run --device loopback --wait block --warm-up 0 --operations 1000",
        "replicate --log disk --warm-up 0 --seconds 1 --rounds 1",
        "latency --warm-up 0 --iterations 3 --lead-in 5");

    private ChildArchive() {
    }

    /** The options of a child's class path. */
    static List<String> options() {
        return Made.OPTIONS;
    }

    /** Without an archive if there is no folder, or if none can be made: children then start slower. */
    static List<String> options(final String classPath, final String folder) {
        try {
            if (folder != null) {
                return withArchive(classPath, Path.of(folder));
            }
        } catch (final IOException e) {
            warn(e);
        } catch (final InterruptedException e) {
            warn(e);
            Thread.currentThread().interrupt();
        }
        return List.of("-cp", classPath);
    }

    private static void warn(final Exception reason) {
        System.getLogger(ChildArchive.class.getName()).log(System.Logger.Level.WARNING,
            "children start without an archive of classes: " + reason);
    }

    private static List<String> withArchive(final String classPath, final Path folder) throws IOException, InterruptedException {
        Files.createDirectories(folder);
        final List<String> options = List.of("-cp", jars(classPath, folder));
        final Path archive = folder.resolve("classes.jsa");
        final Path log = folder.resolve("log");
        final List<String> command = new ArrayList<>(ChildCommand.java());
        command.add("-XX:ArchiveClassesAtExit=" + archive);
        command.addAll(options);
        command.add(Training.class.getName());
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException("the training does not end with 0: " + Files.readString(log));
            }
        } finally {
            process.destroyForcibly();
        }
        // Without a message where the options of a child leave it no use of the archive.
        return Stream.concat(options.stream(),
            Stream.of("-XX:SharedArchiveFile=" + archive, "-Xlog:cds=off", "-Xlog:aot=off")).toList();
    }

    private static String jars(final String classPath, final Path folder) throws IOException {
        final List<String> jars = new ArrayList<>();
        for (final String entry : classPath.split(File.pathSeparator)) {
            jars.add(Files.isDirectory(Path.of(entry)) ? jar(entry, folder.resolve(jars.size() + ".jar")) : entry);
        }
        return String.join(File.pathSeparator, jars);
    }

    private static String jar(final String classes, final Path jar) throws IOException {
        final int status = ToolProvider.findFirst("jar").orElseThrow().run(System.out, System.err, "--create",
            "--no-compress", "--file", jar.toString(), "-C", classes, ".");
        if (status != 0) {
            throw new IOException("jar of " + classes + " ends with " + status);
        }
        return jar.toString();
    }

    private static final class Made {
        static final List<String> OPTIONS = options(System.getProperty("java.class.path"), System.getProperty(FOLDER));
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
            System.exit(status(CALLS));
        }

        /** 0 if all calls succeed, or 1. */
        static int status(final List<String> calls) {
            final PrintStream out = System.out;
            int status = 0;
            for (final String call : calls) {
                final String[] words = call.split(" ");
                final int ended = Ringpoll.commandLine(words).execute(words);
                out.println(call + " ends with " + ended);
                status = ended == 0 ? status : 1;
            }
            return status;
        }
    }
}
