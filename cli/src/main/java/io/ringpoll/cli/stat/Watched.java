package io.ringpoll.cli.stat;

import io.ringpoll.pipeline.counters.CountersFileException;
import io.ringpoll.pipeline.counters.CountersSnapshot;
import java.nio.file.Path;
import java.util.Optional;

/**
 * One pipeline that is watched through its counters file: what it shows now, and what it showed before, for rates.
 *
 * <p>Used by one thread.
 */
final class Watched {
    private final Path file;
    private CountersSnapshot latest;
    private CountersSnapshot before;
    private boolean ended;

    /** Begins to watch. Throws {@link CountersFileException} if the file cannot be read. */
    Watched(final Path file) {
        this.file = file;
        latest = CountersSnapshot.read(file);
        before = null;
        ended = !latest.isAlive();
    }

    /** Looks again; a process that has ended, or a file that is gone with it, leaves what was seen last. */
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

    /** What it showed last. */
    CountersSnapshot latest() {
        return latest;
    }

    /** What it showed the time before, if there was one. */
    Optional<CountersSnapshot> before() {
        return Optional.ofNullable(before);
    }

    /** Whether the pipeline, or its process, has ended. */
    boolean hasEnded() {
        return ended;
    }
}
