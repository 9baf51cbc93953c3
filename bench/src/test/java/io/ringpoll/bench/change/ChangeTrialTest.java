package io.ringpoll.bench.change;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.ringpoll.pipeline.WaitMode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ChangeTrialTest {
    private final List<String> steps = new ArrayList<>();

    /** A change that records its calls. */
    private class Recorded implements Change {
        private final boolean undone;

        Recorded(final boolean undone) {
            this.undone = undone;
        }

        @Override
        public void apply() throws IOException {
            steps.add("apply");
        }

        @Override
        public boolean canBeUndone() {
            return undone;
        }

        @Override
        public void undo() {
            steps.add("undo");
            assertFalse(Thread.currentThread().isInterrupted(), "a command would not run");
        }
    }

    @Test
    void shouldMeasureAllRoundsBeforeAChangeThatStays() throws Exception {
        final ChangeReport report = trial(2, new Recorded(false)).run();
        assertEquals(List.of("before 1", "before 2", "apply", "after 1", "after 2"), steps);
        assertFalse(report.alternated());
        assertEquals(2, report.before().rounds().size());
        assertEquals(2, report.after().rounds().size());
    }

    @Test
    void shouldAlternateInBothOrdersIfTheChangeCanBeUndoneAndLeaveItUndone() throws Exception {
        assertTrue(trial(3, new Recorded(true)).run().alternated());
        assertEquals(List.of("before 1", "apply", "after 1", "after 2", "undo", "before 2", "before 3", "apply", "after 3",
            "undo"), steps);
    }

    @Test
    void shouldUndoAChangeThatWasMadeInPart() {
        final Change failing = new Recorded(true) {
            @Override
            public void apply() throws IOException {
                super.apply();
                throw new IOException("no");
            }
        };
        assertEquals("no", assertThrows(IOException.class, () -> trial(3, failing).run()).getMessage());
        assertEquals(List.of("before 1", "apply", "undo"), steps);
    }

    @Test
    void shouldUndoTheChangeIfTheTrialIsInterrupted() {
        final ChangeTrial trial = new ChangeTrial(settings(3), () -> {
            if (steps.contains("apply")) {
                Thread.currentThread().interrupt();
                throw new InterruptedException();
            }
            return round();
        }, ChangeTrialTest::environment, new Recorded(true), (round, after) -> { });
        assertThrows(InterruptedException.class, trial::run);
        assertEquals(List.of("apply", "undo"), steps);
        assertTrue(Thread.interrupted());
    }

    @Test
    void shouldNotUndoWhatWasNotApplied() {
        final ChangeTrial trial = new ChangeTrial(settings(3), () -> {
            throw new InterruptedException();
        }, ChangeTrialTest::environment, new Recorded(true), (round, after) -> { });
        assertThrows(InterruptedException.class, trial::run);
        assertEquals(List.of(), steps);
    }

    private ChangeTrial trial(final int rounds, final Change change) {
        return new ChangeTrial(settings(rounds), ChangeTrialTest::round, ChangeTrialTest::environment, change,
            (round, after) -> steps.add((after ? "after " : "before ") + round));
    }

    private static ChangeSettings settings(final int rounds) {
        return new ChangeSettings(0, 1, WaitMode.YIELD, ChangeSettings.ANY_NODE, rounds, 10, 1000);
    }

    private static ChangeRound round() {
        return new ChangeRound(List.of(), new Histogram(3), "");
    }

    private static ChangeEnvironment environment() {
        return new ChangeEnvironment(JsonNodeFactory.instance.objectNode());
    }
}
