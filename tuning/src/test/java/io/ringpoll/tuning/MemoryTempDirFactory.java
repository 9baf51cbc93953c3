package io.ringpoll.tuning;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/** Creates temporary folders in memory if possible: a recorded tree has thousands of files, which take seconds on a disk. */
public final class MemoryTempDirFactory implements TempDirFactory {
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    @Override
    public Path createTempDirectory(final AnnotatedElementContext element, final ExtensionContext context) throws IOException {
        return Files.isWritable(SHARED_MEMORY) ? Files.createTempDirectory(SHARED_MEMORY, "ringpoll-test")
            : Files.createTempDirectory("ringpoll-test");
    }
}
