package io.ringpoll.mutation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.mutation.Mutant.Outcome;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScoreTest {
    private static final List<Mutant> MUTANTS = List.of(
        new Mutant("poller.A.a: x: 1", Outcome.KILLED), new Mutant("poller.A.a: x: 2", Outcome.KILLED),
        new Mutant("poller.A.a: x: 3", Outcome.TIMED_OUT), new Mutant("poller.A.a: x: 4", Outcome.CRASHED),
        new Mutant("poller.A.a: x: 5", Outcome.SURVIVED), new Mutant("poller.A.a: x: 6", Outcome.NOT_COVERED),
        new Mutant("poller.A.a: same", Outcome.SURVIVED));

    @TempDir
    private Path folder;

    private KnownSurvivors known() throws IOException {
        final Path file = folder.resolve("poller.txt");
        Files.writeString(file, """
            poller.A.a: same
                equivalent: it is the same.
            poller.A.a: x: 5
                unprovoked: no test could.
            """);
        return KnownSurvivors.read(file);
    }

    private static String printed(final Score score) {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        score.print(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Test
    void shouldReportTimeLimitsApartAndCountNoEquivalentMutant() throws IOException {
        final Score score = new Score("poller", MUTANTS, MUTANTS.size(), known());

        assertEquals(100.0 * 4 / 6, score.percent());
        assertEquals("poller       7 of     7 mutants:     2 killed by a test, 1 by its time limit, 1 by loss of the JVM; " +
            "1 survived, 1 not covered, 1 equivalent; score 66.7 %\n", printed(score));
    }

    @Test
    void shouldPrintTheIntervalOfASample() throws IOException {
        final String line = printed(new Score("poller", MUTANTS, 700, known()));

        assertEquals("score 66.7 % (95 %: 30.0 to 90.3)\n", line.substring(line.indexOf("score")));
    }

    @Test
    void shouldAskForAReasonForEachSurvivor() throws IOException {
        assertEquals(List.of("poller.A.a: x: 6"), new Score("poller", MUTANTS, MUTANTS.size(), known()).unexplained());
    }
}
