package io.ringpoll.internal.counters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.ringpoll.internal.poller.CounterType;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.agrona.concurrent.status.CountersReader;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Counters files at and beyond the limits of the reader. */
@Timeout(60)
class CountersSnapshotTest {
    private static final int MAX_FILE_LENGTH = 64 * 1024 * 1024;
    private static final int[] LENGTHS = {CountersFileLayout.METADATA_LENGTH_OFFSET, CountersFileLayout.VALUES_LENGTH_OFFSET,
        CountersFileLayout.ERROR_LOG_LENGTH_OFFSET};

    @TempDir
    private Path folder;
    private byte[] bytes;
    private ByteBuffer content;

    @BeforeEach
    void takeACopy() throws IOException {
        try (CountersFile file = CountersFile.create(folder.resolve("live"), "orders")) {
            CounterType.POLLS.allocate(file.counters(), "poller").setRelease(7);
            bytes = Files.readAllBytes(file.path());
            content = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        }
    }

    private CountersSnapshot read(final byte[] damaged) throws IOException {
        return CountersSnapshot.read(Files.write(folder.resolve("copy"), damaged));
    }

    private void assertRefused(final byte[] damaged, final String reason) {
        final CountersFileException refusal = assertThrows(CountersFileException.class, () -> read(damaged));
        assertEquals(folder.resolve("copy") + " cannot be read: " + reason, refusal.getMessage());
    }

    @Test
    void shouldReadAFileThatEndsWithItsErrorLogAndRejectAShorterOne() throws IOException {
        int end = CountersFileLayout.METADATA_OFFSET;
        for (final int length : LENGTHS) {
            end += content.getInt(length);
        }
        assertEquals(7, read(Arrays.copyOf(bytes, end)).value(CounterType.POLLS, "poller"));
        assertRefused(Arrays.copyOf(bytes, end - 1), "its header is corrupt");
        assertRefused(Arrays.copyOf(bytes, CountersFileLayout.METADATA_OFFSET), "its header is corrupt");
        assertRefused(Arrays.copyOf(bytes, CountersFileLayout.METADATA_OFFSET - 1), "it is too short for a header");
    }

    @Test
    void shouldRejectInvalidOrInconsistentLengths() {
        for (final int length : LENGTHS) {
            final int valid = content.getInt(length);
            for (final int damaged : new int[] {0, -valid, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
                content.putInt(length, damaged);
                assertRefused(bytes, "its header is corrupt");
            }
            content.putInt(length, valid);
        }
        // One more record of one part than of the other, and a partial record.
        final int valid = content.getInt(CountersFileLayout.VALUES_LENGTH_OFFSET);
        for (final int off : new int[] {CountersReader.COUNTER_LENGTH, 1}) {
            content.putInt(CountersFileLayout.VALUES_LENGTH_OFFSET, valid - off);
            assertRefused(bytes, "its header is corrupt");
        }
    }

    @Test
    void shouldRejectAFileAboveTheMaximumLength() throws IOException {
        final Path copy = folder.resolve("copy");
        try (RandomAccessFile file = new RandomAccessFile(copy.toFile(), "rw")) {
            file.setLength(MAX_FILE_LENGTH);
            assertEquals(copy + " cannot be read: it is not a ringpoll counters file",
                assertThrows(CountersFileException.class, () -> CountersSnapshot.read(copy)).getMessage());
            file.setLength(MAX_FILE_LENGTH + 1);
            assertEquals(copy + " cannot be read: it is longer than any counters file",
                assertThrows(CountersFileException.class, () -> CountersSnapshot.read(copy)).getMessage());
        }
    }

    @Test
    void shouldRejectALabelThatIsTooLong() throws IOException {
        final int label = CountersFileLayout.METADATA_OFFSET + CountersReader.LABEL_OFFSET;
        for (final int length : new int[] {0, CountersReader.MAX_LABEL_LENGTH}) {
            content.putInt(label, length);
            assertEquals(length, read(bytes).counters().getFirst().label().length());
        }
        for (final int length : new int[] {-1, CountersReader.MAX_LABEL_LENGTH + 1}) {
            content.putInt(label, length);
            assertRefused(bytes, "its content is corrupt");
        }
    }

    @Test
    void shouldNotTakeALivingProcessForThePipelinesOwnByItsId() throws IOException {
        assertEquals(ProcessHandle.current().pid(), read(bytes).pid());
        assertFalse(read(bytes).isAlive());
    }
}
