package io.ringpoll.bench.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.Goal;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.testing.TestDevice;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The figures of a loaded machine are not checked. */
@Timeout(60)
class VerbsToolTest {
    @Test
    void shouldMeasureEveryFigureThatHasAGoal() {
        final List<BenchResult> results = VerbsTool.measure(TestDevice.address(), "glance");
        final List<Goal> goals = Goals.all().stream().filter(goal -> goal.result().startsWith("verbs/")).toList();
        assertEquals(7, goals.size());
        for (final Goal goal : goals) {
            assertTrue(results.stream().anyMatch(goal::isAbout), goal.toString());
        }
        results.forEach(result -> assertTrue(result.ringpoll() > 0 && result.baseline() > 0, result.toString()));
    }
}
