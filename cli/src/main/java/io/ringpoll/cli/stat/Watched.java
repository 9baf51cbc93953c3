package io.ringpoll.cli.stat;

import io.ringpoll.internal.counters.CountersFileException;
import io.ringpoll.internal.counters.CountersSnapshot;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A pipeline that is observed through its counters file: the present and the previous sample, for rates.
 *
 * <p>Used by one thread.
 */
final class Watched {
    private final Path file;
    private CountersSnapshot latest;
    private CountersSnapshot before;
    private boolean ended;

    /** Opens the counters file. Throws {@link CountersFileException} if it cannot be read. */
    Watched(final Path file) {
        this.file = file;
        latest = CountersSnapshot.read(file);
        before = null;
        ended = !latest.isAlive();
    }

    /** Takes another sample; the last sample remains if the process has ended or the file has disappeared. */
    void refresh() {
        if (ended) {
            return;
        }
        try {
            final CountersSnapshot now = CountersSnapshot.read(file);
            before = latest;
            latest = now;
            ended = !now.isAlive();
        } catch (final CountersFileException gone) {
            ended = true;
        }
    }

    /** The present sample. */
    CountersSnapshot latest() {
        return latest;
    }

    /** The previous sample, if there was one. */
    Optional<CountersSnapshot> before() {
        return Optional.ofNullable(before);
    }

    /** Whether the pipeline, or its process, has ended. */
    boolean hasEnded() {
        return ended;
    }
}
