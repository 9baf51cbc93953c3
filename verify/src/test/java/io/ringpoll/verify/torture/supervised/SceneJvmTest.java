package io.ringpoll.verify.torture.supervised;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class SceneJvmTest {
    /** For the start of a JVM on a slow machine. */
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(100);
    private static final long SHORT_PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

    @TempDir
    private Path folder;

    @Test
    void shouldCountTheScenesThatWereRight() throws IOException, InterruptedException {
        final SceneJvm jvm = play("1");
        assertEquals(List.of(), jvm.violations());
        assertEquals(1, jvm.scenes());
        assertEquals(30, jvm.events());
        assertEquals(4, jvm.operations());
    }

    @Test
    void shouldNameTheSceneInWhichTheJvmCrashed() throws IOException, InterruptedException {
        final SceneJvm jvm = play("2");
        assertEquals(1, jvm.violations().size());
        assertTrue(jvm.violations().getFirst().contains("SIGSEGV"), jvm.violations()::toString);
        assertEquals(2, jvm.lastSeed());
        assertEquals("a shape", jvm.lastScene());
    }

    @Test
    void shouldKillASilentJvmAfterAThreadDump() throws IOException, InterruptedException {
        final SceneJvm jvm = play("3", SHORT_PATIENCE_NS);
        assertEquals(List.of("silent for 10 s; killed"), jvm.violations());
        assertTrue(jvm.lastLines().stream().anyMatch(line -> line.contains("the one that hangs")), jvm.lastLines()::toString);
    }

    @Test
    void shouldReportAnExitCodeThatNothingExplains() throws IOException, InterruptedException {
        final SceneJvm jvm = play("5");
        assertTrue(jvm.violations().getFirst().contains("the JVM ended with exit code"), jvm.violations()::toString);
    }

    @Test
    void shouldNotCountTheStartAsTimeOfPlay() throws IOException, InterruptedException {
        final long beganNs = System.nanoTime();
        final SceneJvm jvm = play("6");
        final double seconds = (System.nanoTime() - beganNs) / 1e9;
        // This process may read late that the first scene has begun, hence no longer time.
        assertTrue(jvm.playedSeconds() > 0, () -> jvm.playedSeconds() + " s");
        assertTrue(jvm.playedSeconds() <= seconds - Misbehaving.START_MS / 1e3, () -> jvm.playedSeconds() + " of " + seconds);
    }

    @Test
    void shouldPlayAsLongAsTheStartTookWithinTheTimeLimit() {
        assertEquals(15, SceneRunner.secondsToPlay(15, 60, 2));
        assertEquals(40, SceneRunner.secondsToPlay(15, 60, 40));
        assertEquals(60, SceneRunner.secondsToPlay(15, 60, 200));
        assertEquals(5, SceneRunner.secondsToPlay(15, 5, 200));
    }

    @Test
    void shouldReportViolations() throws IOException, InterruptedException {
        final SceneJvm jvm = play("4");
        assertEquals(List.of("this and that"), jvm.violations());
        assertEquals(0, jvm.scenes());
    }

    private SceneJvm play(final String seed) throws IOException, InterruptedException {
        return play(seed, PATIENCE_NS);
    }

    private SceneJvm play(final String seed, final long patienceNs) throws IOException, InterruptedException {
        final SceneJvm jvm = new SceneJvm(JvmKind.PLAIN, RdmaApi.RPMA, "127.0.0.1", folder, Misbehaving.class, patienceNs);
        jvm.play(Long.parseLong(seed), 1, 1, 1);
        return jvm;
    }

    /** Substitute for {@link SceneRunner}; the seed selects its behaviour. */
    static final class Misbehaving {
        static final long START_MS = 2_000;
        static final long SCENE_MS = 300;

        private static final PrintStream OUT = System.out;

        private Misbehaving() {
        }

        public static void main(final String[] arguments) throws InterruptedException {
            final String seed = arguments[1];
            if ("6".equals(seed)) {
                Thread.sleep(START_MS);
            }
            OUT.println("scene " + seed + " a shape");
            switch (seed) {
                case "1" -> OUT.println("done 1 30 4");
                case "2" -> new UnsafeBuffer(8, 8).putLong(0, 1);
                case "3" -> {
                    Thread.currentThread().setName("the one that hangs");
                    new CountDownLatch(1).await();
                }
                case "6" -> {
                    Thread.sleep(SCENE_MS);
                    OUT.println("done 6 30 4");
                }
                case "4" -> {
                    OUT.println("wrong 4 this and that");
                    System.exit(1);
                }
                default -> System.exit(3);
            }
        }
    }
}
