package io.ringpoll.verify.torture.supervised;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The warm-up scene of a child process: the parent reads what it writes. */
@Timeout(60)
class SceneRunnerTest {
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    @Test
    void shouldPassAWarmUpWithoutViolations() throws InterruptedException {
        assertTrue(warmUp(violations -> { }));
        assertEquals(List.of("warm-up"), lines());
    }

    @Test
    void shouldReportWhatTheWarmUpHasFound() throws InterruptedException {
        assertFalse(warmUp(violations -> violations.add("found")));
        assertEquals(List.of("warm-up", "scene 1 a shape", "wrong 1 found"), lines());
    }

    @Test
    void shouldReportWhatTheWarmUpHasThrown() throws InterruptedException {
        assertFalse(warmUp(violations -> {
            throw new IllegalStateException("thrown");
        }));
        assertEquals(List.of("warm-up", "scene 1 a shape"), lines().subList(0, 2));
        assertTrue(lines().get(2).startsWith("wrong 1 the scene threw java.lang.IllegalStateException: thrown at "),
            lines()::toString);
    }

    @Test
    void shouldReportAWarmUpThatHangs() throws InterruptedException {
        assertFalse(warmUp(violations -> {
            throw new SceneHangs("waited in vain");
        }));
        assertEquals(List.of("warm-up", "scene 1 a shape"), lines().subList(0, 2));
        assertTrue(written.toString(StandardCharsets.UTF_8).contains("SceneRunnerTest.shouldReportAWarmUpThatHangs"),
            "the stacks of all threads");
        assertEquals("wrong 1 waited in vain", lines().getLast());
    }

    private boolean warmUp(final Consumer<Violations> play) throws InterruptedException {
        final SceneRunner.Scenes scenes = (seed, api, address, countersFolder) -> new FakeScene(play, new Violations());
        return scenes.warmUp(
            new PrintStream(written, true, StandardCharsets.UTF_8), RdmaApi.VERBS, "an address", Path.of("counters"));
    }

    private List<String> lines() {
        return written.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private record FakeScene(Consumer<Violations> played, Violations violations) implements SupervisedScene {
        @Override
        public Object shape() {
            return "a shape";
        }

        @Override
        public String threadPrefix() {
            return "fake";
        }

        @Override
        public void play() {
            played.accept(violations);
        }

        @Override
        public long operations() {
            return 0;
        }

        @Override
        public long events() {
            return 0;
        }
    }
}
