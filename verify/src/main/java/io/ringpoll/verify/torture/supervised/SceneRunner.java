package io.ringpoll.verify.torture.supervised;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.rpma.LogLevel;
import io.ringpoll.rpma.RpmaLog;
import io.ringpoll.verify.process.ProcessMemory;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Plays the scenes of a child process and writes a line before and after each.
 *
 * <pre>
 *   scene SEED SHAPE                    before the scene
 *   done SEED EVENTS OPERATIONS         the scene has passed
 *   wrong SEED TEXT                     one line for each violation; the process ends with exit code 1
 * </pre>
 */
public final class SceneRunner {
    private static final long WARM_UP_SEED = 1;
    private static final int SETTLED_AFTER_SCENES = 20;
    private static final long GROWTH_BYTES = 8 << 20;
    private static final long GROWTH_BYTES_PER_SCENE = 16 << 10;
    private static final int COLLECTIONS = 3;
    private static final long COLLECTION_MS = 100;
    private static final long COMPILATION_NS = TimeUnit.SECONDS.toNanos(20);

    private final PrintStream out = System.out;
    private final Scenes scenes;
    private final RdmaApi api;
    private final String address;
    private final Path countersFolder;
    private final ResourceCensus census;
    private long settledBytes;
    private long settledEvents;

    /** The scenes of one kind. */
    public interface Scenes {
        /**
         * Creates a scene.
         *
         * @param seed           of the scene
         * @param api            the binding that makes its connections
         * @param address        of the device
         * @param countersFolder folder for counters files
         * @return to be played once
         */
        SupervisedScene scene(long seed, RdmaApi api, String address, Path countersFolder);

        /**
         * Opens and loads the resources that the libraries of the device and the JVM load once.
         *
         * @param out            receives a line for each step, so that the process is not silent
         * @param api            the binding that makes connections
         * @param address        of the device
         * @param countersFolder folder for counters files
         * @return false if a scene of the warm-up was violated; its lines have been written
         * @throws InterruptedException if the calling thread is interrupted
         */
        default boolean warmUp(final PrintStream out, final RdmaApi api, final String address, final Path countersFolder)
            throws InterruptedException {
            out.println("warm-up");
            final SupervisedScene scene = scene(WARM_UP_SEED, api, address, countersFolder);
            final Violations violations = scene.violations();
            try {
                scene.play();
                if (violations.isEmpty()) {
                    return true;
                }
                printBegin(out, WARM_UP_SEED, scene);
            } catch (final RuntimeException | Error thrown) {
                // First: the parent forgets the lines before it.
                printBegin(out, WARM_UP_SEED, scene);
                report(out, thrown, violations);
            }
            print(out, WARM_UP_SEED, violations);
            return false;
        }
    }

    /** What a scene has left when it is not reachable any more. */
    private record Outcome(boolean ended, String threadPrefix, Violations violations, long events, long operations) {
    }

    private SceneRunner(final Scenes scenes, final RdmaApi api, final String address, final Path countersFolder) {
        this.scenes = scenes;
        this.api = api;
        this.address = address;
        this.countersFolder = countersFolder;
        this.census = new ResourceCensus(api, countersFolder);
    }

    /**
     * Plays scenes, and ends the process.
     *
     * @param arguments binding, first seed, number of scenes, seconds, most seconds, address, folder for counters files
     * @param scenes    the scenes
     * @throws Exception if the scenes cannot be played at all
     */
    public static void play(final String[] arguments, final Scenes scenes) throws Exception {
        final RdmaApi api = RdmaApi.valueOf(arguments[0]);
        if (api == RdmaApi.RPMA) {
            RpmaLog.threshold(LogLevel.DISABLED);
        }
        final long firstSeed = Long.parseLong(arguments[1]);
        final int count = Integer.parseInt(arguments[2]);
        final double seconds = Double.parseDouble(arguments[3]);
        final double mostSeconds = Double.parseDouble(arguments[4]);
        final SceneRunner runner =
            new SceneRunner(scenes, api, arguments[5], Files.createDirectories(Path.of(arguments[6])));
        System.exit(runner.run(firstSeed, count, seconds, mostSeconds) ? 0 : 1);
    }

    private boolean run(final long firstSeed, final int count, final double seconds, final double mostSeconds)
        throws InterruptedException {
        if (!scenes.warmUp(out, api, address, countersFolder)) {
            return false;
        }
        census.settle();
        final double toPlay = secondsToPlay(seconds, mostSeconds, secondsSinceStart());
        final long endNs = System.nanoTime() + (long) (toPlay * TimeUnit.SECONDS.toNanos(1));
        int played = 0;
        while (played < count && System.nanoTime() - endNs < 0) {
            if (!play(firstSeed + played)) {
                return false;
            }
            played++;
            if (played == SETTLED_AFTER_SCENES) {
                settledBytes = settledMallocBytes();
                settledEvents = census.eventDescriptors();
            }
        }
        return played < 2 * SETTLED_AFTER_SCENES || judgeGrowth(firstSeed, played);
    }

    private boolean play(final long seed) throws InterruptedException {
        final Map<String, Long> before = census.count();
        final Outcome outcome = outcome(seed);
        final Violations violations = outcome.violations();
        if (outcome.ended()) {
            census.compare(before, outcome.threadPrefix(), violations);
        }
        print(out, seed, violations);
        if (violations.isEmpty()) {
            out.println("done " + seed + " " + outcome.events() + " " + outcome.operations());
        }
        return violations.isEmpty();
    }

    private Outcome outcome(final long seed) throws InterruptedException {
        final SupervisedScene scene = scenes.scene(seed, api, address, countersFolder);
        printBegin(out, seed, scene);
        boolean ended = false;
        try {
            scene.play();
            ended = true;
        } catch (final RuntimeException | Error thrown) {
            report(out, thrown, scene.violations());
        }
        return new Outcome(ended, scene.threadPrefix(), scene.violations(), scene.events(), scene.operations());
    }

    /** Adds what a scene has thrown to its violations. */
    private static void report(final PrintStream out, final Throwable thrown, final Violations violations) {
        if (thrown instanceof SceneHangs) {
            violations.add(thrown.getMessage());
            out.println(SceneHangs.dump());
        } else {
            violations.unexpected("the scene", thrown);
        }
    }

    private static void printBegin(final PrintStream out, final long seed, final SupervisedScene scene) {
        out.println("scene " + seed + " " + scene.shape());
    }

    private static void print(final PrintStream out, final long seed, final Violations violations) {
        violations.lines().forEach(line -> out.println("wrong " + seed + " " + line.replace('\n', ' ')));
    }

    private boolean judgeGrowth(final long firstSeed, final int played) throws InterruptedException {
        final int since = played - SETTLED_AFTER_SCENES;
        final long mostBytes = GROWTH_BYTES + since * GROWTH_BYTES_PER_SCENE;
        final long startNs = System.nanoTime();
        long grownBytes = settledMallocBytes() - settledBytes;
        // A compiler thread of the JVM takes megabytes for some seconds; leaked memory is not returned.
        while (grownBytes > mostBytes && System.nanoTime() - startNs < COMPILATION_NS) {
            grownBytes = Math.min(grownBytes, settledMallocBytes() - settledBytes);
        }
        final long grownEvents = census.eventDescriptors() - settledEvents;
        if (grownBytes > mostBytes) {
            out.println("wrong " + firstSeed + " the C heap in use grew by " + grownBytes + " bytes in " + since + " scenes");
            return false;
        }
        if (grownEvents > since / 4 + 8) {
            out.println("wrong " + firstSeed + " event descriptors grew by " + grownEvents + " in " + since + " scenes");
            return false;
        }
        return true;
    }

    /** As long as the start has taken, within the limit: on an emulated CPU the start would otherwise take most of the time. */
    static double secondsToPlay(final double seconds, final double mostSeconds, final double secondsToStart) {
        return Math.min(mostSeconds, Math.max(seconds, secondsToStart));
    }

    private static double secondsSinceStart() {
        return (System.currentTimeMillis() - ManagementFactory.getRuntimeMXBean().getStartTime()) /
            (double) TimeUnit.SECONDS.toMillis(1);
    }

    private static long settledMallocBytes() throws InterruptedException {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            Thread.sleep(COLLECTION_MS);
            least = Math.min(least, ProcessMemory.mallocBytes());
        }
        return least;
    }
}
