package io.ringpoll.verify.torture.supervised;

import io.ringpoll.internal.os.JvmShutdown;
import io.ringpoll.internal.os.TemporaryFolder;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.verify.seeds.SeededRun;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/**
 * The parent of a torture in child processes: runs batches of scenes in child JVMs of each kind in turn, until one fails or the
 * time is over. The time counts from the first scene of each child, because a JVM takes minutes to start on an emulated CPU.
 */
public final class SupervisedTorture {
    /** Long enough to detect leaks, short enough for a turn of each kind of JVM per minute. */
    private static final int SCENES_PER_JVM = 100;
    private static final double MOST_SECONDS_PER_JVM = 15;
    private static final double LEAST_SECONDS_PER_JVM = 1;

    private final SceneKind scenesOf;
    private final RdmaApi api;
    private final SeededRun run;
    private final long scenes;
    private final JvmKind kind;
    private final String address;
    private final PrintWriter progress;

    /**
     * Prepares a torture.
     *
     * @param scenesOf what is played
     * @param api      the binding that makes the connections
     * @param run      seed and time
     * @param scenes   number of scenes instead of a time; 0 for the time
     * @param kind     of JVM; null for all in turn
     * @param address  of the device
     * @param progress receives progress lines
     */
    public SupervisedTorture(final SceneKind scenesOf, final RdmaApi api, final SeededRun run, final long scenes,
        final JvmKind kind, final String address, final PrintWriter progress) {
        this.scenesOf = scenesOf;
        this.api = api;
        this.run = run;
        this.scenes = scenes;
        this.kind = kind;
        this.address = address;
        this.progress = progress;
    }

    /**
     * Runs the torture.
     *
     * @return the result
     * @throws IOException          if a child cannot be started
     * @throws InterruptedException if the calling thread is interrupted
     */
    public SupervisedReport play() throws IOException, InterruptedException {
        progress.printf("scenes over %s from seed %d%n", api, run.firstSeed());
        progress.flush();
        long played = 0;
        long events = 0;
        long operations = 0;
        double playedSeconds = 0;
        final List<JvmKind> kinds = kind != null ? List.of(kind) :
            Stream.of(JvmKind.values()).filter(JvmKind::isAvailable).toList();
        final double perJvm = Math.clamp(run.seconds() / kinds.size(), LEAST_SECONDS_PER_JVM, MOST_SECONDS_PER_JVM);
        SceneJvm child = null;
        for (int turn = 0; (child == null || child.violations().isEmpty()) && isToGoOn(played, playedSeconds); turn++) {
            final AtomicReference<SceneJvm> started = new AtomicReference<>();
            final TemporaryFolder folder = TemporaryFolder.create("ringpoll-torture", () -> kill(started.get()));
            child = new SceneJvm(
                kinds.get(turn % kinds.size()), api, address, folder.path(), scenesOf.main(), SceneJvm.LONGEST_SILENCE_NS);
            started.set(child);
            final int count = (int) Math.min(SCENES_PER_JVM, scenes > 0 ? scenes - played : SCENES_PER_JVM);
            final double most = scenes > 0 ? Double.MAX_VALUE :
                Math.max(LEAST_SECONDS_PER_JVM, run.seconds() - playedSeconds);
            child.play(run.firstSeed() + played, count, scenes > 0 || kind != null ? most : perJvm, most);
            if (JvmShutdown.hasBegun()) {
                // The child was killed for that; this thread ends with the JVM.
                TimeUnit.NANOSECONDS.sleep(SceneJvm.LONGEST_SILENCE_NS);
            }
            played += child.scenes();
            playedSeconds += child.playedSeconds();
            events += child.events();
            operations += child.operations();
            progress.printf("%,d scenes, %,d %s, %,d %s (%s)%n", played, operations, scenesOf.operations(), events,
                scenesOf.events(), child.kind());
            progress.flush();
            if (child.violations().isEmpty()) {
                delete(folder.path());
            }
            folder.keep();
        }
        return new SupervisedReport(scenesOf, api, run.firstSeed(), played, operations, events, playedSeconds,
            run.elapsedSeconds(), child);
    }

    private boolean isToGoOn(final long played, final double playedSeconds) {
        return scenes > 0 ? played < scenes : playedSeconds < run.seconds();
    }

    /** At the end of this JVM, which a signal may have reached alone. */
    private static void kill(final SceneJvm child) {
        if (child != null) {
            child.kill();
        }
    }

    private static void delete(final Path folder) throws IOException {
        final Path ports = folder.resolve(SceneJvm.PORTS);
        if (Files.exists(ports)) {
            // Of the last killed processes.
            try (Stream<Path> left = Files.list(ports)) {
                for (final Path path : left.toList()) {
                    Files.delete(path);
                }
            }
        }
        for (final Path path : List.of(ports, folder.resolve("counters"), folder)) {
            Files.deleteIfExists(path);
        }
    }
}
