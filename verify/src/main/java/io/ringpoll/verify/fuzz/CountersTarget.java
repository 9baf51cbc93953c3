package io.ringpoll.verify.fuzz;

import io.ringpoll.internal.counters.CountersFileException;
import io.ringpoll.internal.counters.CountersSnapshot;
import io.ringpoll.internal.os.TemporaryFolder;
import io.ringpoll.pipeline.Pipeline;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Reads counters files, as {@code ./ringpoll stat} does. */
final class CountersTarget implements FuzzTarget {
    private final TemporaryFolder folder;
    private final byte[] example;

    CountersTarget() {
        try {
            folder = TemporaryFolder.create("ringpoll-fuzz");
            try (Pipeline pipeline = Pipeline.builder().name("fuzzed").countersFolder(folder.path())
                .onAll((completion, sequence, endOfBatch) -> { }).start()) {
                example = Files.readAllBytes(pipeline.countersFile());
            }
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public String name() {
        return "counters-file";
    }

    @Override
    public List<byte[]> examples() {
        return List.of(example);
    }

    @Override
    public void read(final byte[] input) throws Refused {
        final Path file = folder.path().resolve("fuzzed-1.counters");
        try {
            Files.write(file, input);
            CountersSnapshot.read(file);
        } catch (final CountersFileException refused) {
            throw new Refused(refused);
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void close() {
        try {
            folder.close();
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
