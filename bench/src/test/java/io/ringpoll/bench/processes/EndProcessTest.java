package io.ringpoll.bench.processes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.ChildProcesses;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class EndProcessTest {
    @TempDir
    private Path temporary;
    private Path folder;

    private final ChildProcesses children = new ChildProcesses(() -> { });

    @AfterEach
    void endProcesses() {
        children.close();
    }

    private EndProcess start() throws Exception {
        folder = Files.createDirectory(temporary.resolve("run"));
        return EndProcess.start(new EndSettings(true, HotCpus.ANY, true, folder), children);
    }

    @Test
    void shouldEndTheServerWithItsFolderByTheEndOfItsInput() throws Exception {
        final EndProcess process = start();
        Files.createFile(folder.resolve("lines"));
        process.send("listen MEMCPY");
        assertEquals(List.of("-"), process.answer());
        process.close();
        assertEquals(0, process.exitCode(), "it was not killed");
        assertTrue(Files.notExists(folder));
    }

    @Test
    void shouldReportACommandThatFails() throws Exception {
        try (EndProcess process = start()) {
            process.send("connect TCP 1");
            final String message = assertThrows(IllegalStateException.class, process::answer).getMessage();
            assertTrue(message.startsWith("the server failed") && message.contains("baseline_end_connect"), message);
        }
    }

    @Test
    void shouldReportAProcessThatHasEnded() throws Exception {
        try (EndProcess process = start()) {
            process.kill();
            final String message = assertThrows(IllegalStateException.class, process::answer).getMessage();
            assertEquals("the process of the server has ended", message);
        }
    }
}
