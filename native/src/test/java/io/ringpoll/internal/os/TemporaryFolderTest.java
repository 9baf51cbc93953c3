package io.ringpoll.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class TemporaryFolderTest {
    private static final String BEFORE = "before";

    @TempDir
    private Path parent;

    @Test
    void shouldBeRemovedWithItsFilesWhenItIsClosed() throws IOException {
        final TemporaryFolder folder = TemporaryFolder.create("ringpoll-test");
        fill(folder.path());
        folder.close();
        assertFalse(Files.exists(folder.path()));
        folder.close();
    }

    @Test
    void shouldBeRemovedAtTheEndOfTheJvmBySignal() throws IOException, InterruptedException {
        final Path folder = pathInChild("remove");
        assertFalse(Files.exists(folder));
        // Its other task came first.
        assertEquals("true", Files.readString(parent.resolve(BEFORE)));
    }

    @Test
    void shouldStayIfItIsKept() throws IOException, InterruptedException {
        final Path folder = pathInChild("keep");
        assertTrue(Files.exists(folder.resolve("a").resolve("b")));
        assertFalse(Files.exists(parent.resolve(BEFORE)));
    }

    private static void fill(final Path folder) throws IOException {
        Files.createDirectory(folder.resolve("a"));
        Files.writeString(folder.resolve("a").resolve("b"), "c");
    }

    /** The path of a folder that a JVM has created which a signal has ended. */
    private Path pathInChild(final String mode) throws IOException, InterruptedException {
        final Process child = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Djava.io.tmpdir=" + parent, "-cp", System.getProperty("java.class.path"), Child.class.getName(), mode,
            parent.toString()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader lines = child.inputReader()) {
            final Path path = Path.of(lines.readLine());
            assertEquals(parent, path.getParent());
            child.destroy();
            assertTrue(child.waitFor(30, TimeUnit.SECONDS));
            assertEquals(143, child.exitValue());
            return path;
        } finally {
            child.destroyForcibly();
        }
    }

    /** Creates a folder and waits for a signal. */
    public static final class Child {
        private Child() {
        }

        /**
         * Prints the folder.
         *
         * @param words keep or remove, and where to write whether the folder is there before its removal
         */
        public static void main(final String... words) throws IOException, InterruptedException {
            final Path[] path = new Path[1];
            final TemporaryFolder folder = TemporaryFolder.create("ringpoll-test", () -> {
                try {
                    Files.writeString(Path.of(words[1], BEFORE), Boolean.toString(Files.exists(path[0])));
                } catch (final IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            path[0] = folder.path();
            fill(folder.path());
            if (List.of(words).contains("keep")) {
                folder.keep();
            }
            final PrintStream out = System.out;
            out.println(folder.path());
            Thread.currentThread().join();
        }
    }
}
