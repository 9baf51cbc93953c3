package io.ringpoll.bench.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class PerftestContestantTest {
    @Test
    void shouldReadTheLatencyOfEachIterationFromPerftestsOutput() {
        final Histogram histogram = PerftestContestant.parse("""
            ---------------------------------------------------------------------------------------
             local address: LID 0000 QPN 0x0013 PSN 0xfaf8a7
             #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]
            #, usec
            1, 9.05
            2, 8.657
            3, 20403.2
             64      3          8.66           20403.20       9.05             9.05             0.13
            """);
        assertEquals(3, histogram.getTotalCount());
        assertEquals(9_050, histogram.getValueAtPercentile(50), 10);
        assertEquals(20_403_200, histogram.getMaxValue(), 20_000);
    }

    @Test
    void shouldEndATurnIfTheClientHangs(@TempDir final Path folder) throws IOException {
        final Path tool = folder.resolve("hanging_lat");
        Files.writeString(tool, "#!/bin/sh\necho connecting\nexec sleep 1000\n");
        Files.setPosixFilePermissions(tool, PosixFilePermissions.fromString("rwx------"));
        try (PerftestContestant contestant = new PerftestContestant(tool.toString(), "127.0.0.1", 64, 1)) {
            final LatencyWindow window = contestant.run(new Turn(0, 0, 0, 5));
            assertEquals(tool + " printed no latencies: it hung and was killed after 1 s", window.fault());
            assertEquals(0, window.latencyNs().getTotalCount());
        }
        assertTrue(ProcessHandle.current().children().noneMatch(child ->
            child.isAlive() && child.info().commandLine().orElse("").contains("sleep 1000")));
    }
}
