package io.ringpoll.cli.tuning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.ringpoll.cli.Ringpoll;
import io.ringpoll.cli.options.CommandCalls;
import io.ringpoll.os.ThreadAffinity;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks the figures of the complete command. A measurement is repeated: an interval of 95 % is wrong once in 20 measurements,
 * but an instrument that favours one side is wrong each time.
 */
@Tag("figures")
@Timeout(300)
class VerifyFiguresTest {
    private static final int ATTEMPTS = 3;

    private final CommandCalls calls = new CommandCalls(Ringpoll::commandLine);
    private final String cpu = Integer.toString(ThreadAffinity.get().nextSetBit(0));

    @TempDir
    private Path folder;

    @Test
    void shouldShowNoDifferenceForAChangeThatChangesNothing() throws IOException {
        Set<String> alwaysShown = null;
        for (int attempt = 0; attempt < ATTEMPTS && (alwaysShown == null || !alwaysShown.isEmpty()); attempt++) {
            final Set<String> shown = new TreeSet<>();
            for (final JsonNode figure : figures("--undo", "true", "--", "true")) {
                if (!"no difference shown".equals(figure.path("shown").asText())) {
                    shown.add(figure.path("name").asText());
                }
            }
            if (alwaysShown == null) {
                alwaysShown = shown;
            } else {
                alwaysShown.retainAll(shown);
            }
        }
        assertEquals(Set.of(), alwaysShown);
    }

    @Test
    void shouldShowThatACompetitorOnTheCpuTakesTime() throws IOException {
        assumeTrue(CommandChange.hasProgram(List.of("taskset")), "taskset is not installed");
        final Path pid = folder.resolve("pid");
        final Path start =
            VerifyCommandTest.script(folder, "start",
                "taskset -c " + cpu + " sh -c 'while :; do :; done' >/dev/null 2>&1 & echo $! >" + pid);
        final Path stop = VerifyCommandTest.script(folder, "stop", "kill \"$(cat " + pid + ")\"");
        String seen = "";
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            final JsonNode lost = figures("--pin", cpu + "," + cpu, "--undo", stop.toString(), "--", start.toString()).get(0);
            assertEquals("lost time of a CPU, us a second", lost.path("name").asText());
            if ("higher".equals(lost.path("shown").asText())) {
                return;
            }
            seen += lost + "\n";
        }
        throw new AssertionError(seen);
    }

    private JsonNode figures(final String... words) throws IOException {
        final List<String> all = new ArrayList<>(List.of("tune", "verify", "--json", "--rounds", "12", "--window", "60",
            "--settle", "0", "--rate", "10000"));
        all.addAll(List.of(words));
        assertEquals(0, calls.execute(all.toArray(String[]::new)), calls::err);
        assertEquals(6, calls.json().path("figures").size(), calls::out);
        return calls.json().path("figures");
    }
}
