package io.ringpoll.cli.run;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The main job in a JVM without a compiler, as debuggers and some profilers start it: the compilation time is unknown there. */
@Timeout(300)
class InterpretedRunTest {
    @Test
    void shouldRunWithoutACompiler() throws IOException, InterruptedException {
        ChildRun.assertRuns(List.of("-Xint"), List.of("--operations", "100"));
    }
}
