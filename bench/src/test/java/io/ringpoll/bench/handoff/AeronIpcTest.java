package io.ringpoll.bench.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.aeron.Publication;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class AeronIpcTest {
    @TempDir
    private Path parent;

    @Test
    void shouldRemoveItsFolderAtTheEnd() {
        final Path folder;
        try (AeronIpc ipc = AeronIpc.open(64)) {
            folder = ipc.folder();
            assertTrue(Files.isDirectory(folder));
            assertTrue(folder.startsWith("/dev/shm/"), folder.toString());
            assertTrue(ipc.publication().isConnected());
        }
        assertFalse(Files.exists(folder));
    }

    @Test
    void shouldHaveRoomForAsManyCompletionsAsARingHasSlots() {
        for (final int slots : List.of(2, 1024, 8192)) {
            try (AeronIpc ipc = AeronIpc.open(parent, slots)) {
                assertTrue(ipc.publication().availableWindow() >= slots * 64L, slots + " slots");
            }
        }
        assertEquals(1 << 16, AeronIpc.termLength(2));
        assertEquals(1 << 20, AeronIpc.termLength(8192));
        assertEquals(1 << 30, AeronIpc.termLength(1 << 24));
    }

    @Test
    void shouldNameTheReasonIfItCannotStart() throws IOException {
        final Path missing = parent.resolve("missing");
        final String message = assertThrows(IllegalStateException.class, () -> AeronIpc.open(missing, 64)).getMessage();
        assertTrue(message.startsWith("Aeron did not start: ") && message.contains(missing.toString()), message);
        assertEquals(1, message.lines().count());
    }

    @Test
    void shouldLeaveNothingBehindIfItCannotStart() throws IOException {
        // Interrupted after the folder was made.
        Thread.currentThread().interrupt();
        assertThrows(IllegalStateException.class, () -> AeronIpc.open(parent, 64));
        assertTrue(Thread.interrupted());
        // It may make the folder later than the caller has given up.
        final long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (isStarting()) {
            assertTrue(System.nanoTime() < deadline, "the start does not end");
            Thread.onSpinWait();
        }
        assertTrue(isEmpty(parent), "the folder is still there");
    }

    private static boolean isStarting() {
        return Thread.getAllStackTraces().keySet().stream().anyMatch(thread -> thread.getName().equals("aeron-start"));
    }

    private static boolean isEmpty(final Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.findAny().isEmpty();
        }
    }

    @Test
    void shouldFailIfThePublicationIsClosed() {
        try (AeronIpc ipc = AeronIpc.open(parent, 64)) {
            ipc.onRefused(Publication.BACK_PRESSURED);
            ipc.onRefused(Publication.ADMIN_ACTION);
            final String message =
                assertThrows(IllegalStateException.class, () -> ipc.onRefused(Publication.CLOSED)).getMessage();
            assertTrue(message.contains("CLOSED"), message);
        }
    }

    @Test
    void shouldSkipWhatCannotRunAndNameTheReason() {
        final StringWriter out = new StringWriter();
        final HandOff ringpoll = new RingpollHandOff();
        assertEquals(List.of(ringpoll), HandOffs.available(List.of(ringpoll, new Missing()), new PrintWriter(out)));
        assertEquals(List.of("skipped: pigeon: no pigeons here"), out.toString().lines().toList());
    }

    /** A hand-off that this machine has not. */
    private static final class Missing implements HandOff {
        @Override
        public String label() {
            return "pigeon";
        }

        @Override
        public Optional<String> unavailable() {
            return Optional.of("no pigeons here");
        }

        @Override
        public Running start(final Job job) {
            throw new IllegalStateException("it cannot start");
        }
    }
}
