package io.ringpoll.bench.replicate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class ClientLatenciesTest {
    private static final long RUN_NS = TimeUnit.SECONDS.toNanos(2);

    private final Histogram latencies = new Histogram(TimeUnit.SECONDS.toNanos(120), 3);
    @TempDir
    private Path folder;

    @Test
    void shouldWriteToAFolderThatDoesNotExistYet() throws IOException {
        latencies.recordValue(1_000);
        final Path file = folder.resolve("new/latencies");
        ClientLatencies.write(file, latencies, RUN_NS);
        assertEquals(0.5, ClientLatencies.read(file).appendsPerSecond());
    }

    @Test
    void shouldReportAFullDisk() {
        final IOException full =
            assertThrows(IOException.class, () -> ClientLatencies.write(Path.of("/dev/full"), latencies, RUN_NS));
        assertEquals("cannot write to /dev/full", full.getMessage());
    }
}
