package io.ringpoll.verify.torture.supervised;

import io.ringpoll.internal.rc.RdmaApi;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A child JVM that plays a batch of scenes, supervised: a child without output for too long gets a thread dump request and is
 * then killed.
 */
public final class SceneJvm {
    /** Longer than any bound within a scene, on a loaded machine. */
    static final long LONGEST_SILENCE_NS = TimeUnit.SECONDS.toNanos(240);

    /** Folder of the ports of the loopback device, within the folder of the child. */
    static final String PORTS = "ports";
    /** Environment variable with the folder of the JVM, for further files of scenes. */
    public static final String FOLDER = "RINGPOLL_TORTURE_FOLDER";

    /** Until the first scene: on an emulated CPU a JVM takes minutes to start. */
    private static final long LONGEST_START_NS = TimeUnit.SECONDS.toNanos(900);

    private static final long DUMP_MS = 3_000;
    private static final int MOST_LINES = 400;

    private final JvmKind kind;
    private final RdmaApi api;
    private final String address;
    private final Path folder;
    private final Class<?> main;
    private final long longestSilenceNs;
    private final List<String> violations = new ArrayList<>();
    private final List<String> lastLines = new ArrayList<>();
    private long lastLineNs;
    private boolean playing;
    private boolean killed;
    private Process process;
    private long firstSceneNs;
    private long playedNs;
    private String lastScene = "none";
    private long lastSeed;
    private long scenes;
    private long events;
    private long operations;

    /**
     * Prepares a child.
     *
     * @param kind             kind of the JVM
     * @param api              the binding of the scenes
     * @param address          address of the interface of the device
     * @param folder           folder for its counters files and its crash report
     * @param main             plays the scenes with a {@link SceneRunner}, or a substitute
     * @param longestSilenceNs time without output after which it counts as hanging
     */
    SceneJvm(
        final JvmKind kind, final RdmaApi api, final String address, final Path folder, final Class<?> main,
        final long longestSilenceNs) {
        this.kind = kind;
        this.api = api;
        this.address = address;
        this.folder = folder;
        this.main = main;
        this.longestSilenceNs = longestSilenceNs;
    }

    /**
     * Plays scenes; afterwards the other methods return the results. The time starts with the first scene.
     *
     * @param firstSeed   seed of the first scene
     * @param count       maximum number of scenes
     * @param seconds     duration; extended if the JVM took longer to start
     * @param mostSeconds maximum duration
     */
    void play(final long firstSeed, final int count, final double seconds, final double mostSeconds)
        throws IOException, InterruptedException {
        lastSeed = firstSeed;
        final ProcessBuilder builder =
            new ProcessBuilder(command(firstSeed, count, seconds, mostSeconds)).redirectErrorStream(true);
        // The C library overwrites freed memory.
        builder.environment().put("MALLOC_PERTURB_", "165");
        // The ports of other processes of the user are no part of the scenes.
        builder.environment().put("RINGPOLL_LOOPBACK_FOLDER", folder.resolve(PORTS).toString());
        builder.environment().put(FOLDER, folder.toString());
        final Process started = start(builder);
        final Thread watchdog = watch(started);
        try (BufferedReader lines = started.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                take(line);
            }
        }
        endPlaying();
        final int exitCode = started.waitFor();
        watchdog.interrupt();
        watchdog.join();
        if (exitCode != 0 && violations.isEmpty()) {
            violations.add("the JVM ended with exit code " + exitCode + crash());
        }
    }

    private synchronized Process start(final ProcessBuilder builder) throws IOException {
        if (killed) {
            throw new IllegalStateException("no JVM is started while this one ends");
        }
        process = builder.start();
        return process;
    }

    /** Kills the JVM with the processes that it has started, and waits for their end; none is started any more. */
    synchronized void kill() {
        killed = true;
        if (process != null) {
            final List<ProcessHandle> all = Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
            all.forEach(ProcessHandle::destroyForcibly);
            all.forEach(one -> one.onExit().join());
        }
    }

    private List<String> command(
        final long firstSeed, final int count, final double seconds, final double mostSeconds) {
        final List<String> command = new ArrayList<>(kind.launcher());
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-Xmx512m", "-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=" + folder.resolve("hs_err"),
            "-XX:+UnlockDiagnosticVMOptions", "-XX:+SafepointTimeout", "-XX:SafepointTimeoutDelay=30000",
            "-XX:+AbortVMOnSafepointTimeout", "-XX:HandshakeTimeout=30000"));
        command.addAll(kind.options());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName(), api.name(), Long.toString(firstSeed),
            Integer.toString(count), Double.toString(seconds), Double.toString(mostSeconds), address,
            folder.resolve("counters").toString()));
        return command;
    }

    private Thread watch(final Process process) {
        lastLineNs = System.nanoTime();
        return Thread.ofPlatform().daemon().name("watchdog").start(() -> {
            try {
                while (process.isAlive()) {
                    Thread.sleep(200);
                    if (silentNs() > longestSilenceNs()) {
                        synchronized (this) {
                            violations.add("silent for " + TimeUnit.NANOSECONDS.toSeconds(longestSilenceNs()) + " s; killed");
                        }
                        // A JVM that still reaches a safepoint answers SIGQUIT with the stacks of its threads.
                        new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid())).start().waitFor();
                        Thread.sleep(DUMP_MS);
                        process.destroyForcibly();
                        return;
                    }
                }
            } catch (final IOException | InterruptedException over) {
                process.destroyForcibly();
            }
        });
    }

    private synchronized long longestSilenceNs() {
        return playing ? longestSilenceNs : LONGEST_START_NS;
    }

    private synchronized void endPlaying() {
        playedNs = playing ? System.nanoTime() - firstSceneNs : 0;
    }

    private synchronized long silentNs() {
        return System.nanoTime() - lastLineNs;
    }

    private synchronized void take(final String line) {
        lastLineNs = System.nanoTime();
        final String[] words = line.split(" ", 3);
        switch (words[0]) {
            case "scene" -> {
                if (!playing) {
                    playing = true;
                    firstSceneNs = lastLineNs;
                }
                lastSeed = Long.parseLong(words[1]);
                lastScene = words[2];
                lastLines.clear();
            }
            case "done" -> {
                scenes++;
                events += Long.parseLong(words[2].split(" ")[0]);
                operations += Long.parseLong(words[2].split(" ")[1]);
            }
            case "wrong" -> violations.add(words[2]);
            default -> {
                if (lastLines.size() < MOST_LINES) {
                    lastLines.add(line);
                }
            }
        }
    }

    /** The first lines of the crash report of the JVM. */
    private String crash() throws IOException {
        final Path report = folder.resolve("hs_err");
        if (!Files.exists(report)) {
            return "";
        }
        try (Stream<String> lines = Files.lines(report, StandardCharsets.ISO_8859_1)) {
            return "; " + report + ": " + String.join(" ", lines.limit(20).filter(line -> line.startsWith("#"))
                .map(line -> line.substring(1).strip()).filter(line -> !line.isEmpty()).limit(8).toList());
        }
    }

    /** The failure; empty if there was none. */
    List<String> violations() {
        return violations;
    }

    /** Other output of the process during the last scene, such as a thread dump. */
    List<String> lastLines() {
        return lastLines;
    }

    long lastSeed() {
        return lastSeed;
    }

    String lastScene() {
        return lastScene;
    }

    JvmKind kind() {
        return kind;
    }

    long scenes() {
        return scenes;
    }

    /** The time from the first scene to the end, without the start of the JVM. */
    double playedSeconds() {
        return playedNs / (double) TimeUnit.SECONDS.toNanos(1);
    }

    /** As {@link SupervisedScene#events()}, of all passed scenes. */
    long events() {
        return events;
    }

    /** As {@link SupervisedScene#operations()}, of all passed scenes. */
    long operations() {
        return operations;
    }
}
