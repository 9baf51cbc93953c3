package io.ringpoll.cli.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ChildArchiveTest {
    private static final String CLASS_PATH = System.getProperty("java.class.path");

    @TempDir
    private Path folder;

    @Test
    void shouldStartChildrenWithoutAnArchiveIfItsFolderCannotBeMade() throws IOException {
        final Path file = Files.createFile(folder.resolve("file"));
        assertEquals(List.of("-cp", CLASS_PATH), ChildArchive.options(CLASS_PATH, file.resolve("below").toString()));
    }

    @Test
    void shouldStartChildrenWithoutAnArchiveIfTheTrainingFails() throws IOException {
        final String noClasses = folder.resolve("none.jar").toString();
        assertEquals(List.of("-cp", noClasses), ChildArchive.options(noClasses, folder.toString()));
        assertTrue(Files.readString(folder.resolve("log")).contains("Training"));
    }

    @Test
    void shouldKeepTheInterruptAndEndTheTraining() throws InterruptedException {
        final List<String> options = new ArrayList<>();
        final AtomicBoolean interrupted = new AtomicBoolean();
        final Thread caller = Thread.ofPlatform().start(() -> {
            options.addAll(ChildArchive.options(CLASS_PATH, folder.toString()));
            interrupted.set(Thread.currentThread().isInterrupted());
        });
        Optional<ProcessHandle> training = training();
        while (training.isEmpty()) {
            Thread.sleep(10);
            training = training();
        }
        caller.interrupt();
        caller.join();
        assertEquals(List.of("-cp", CLASS_PATH), options);
        assertTrue(interrupted.get());
        training.get().onExit().join();
        assertFalse(Files.exists(archive()), "the training was not interrupted");
    }

    private Path archive() {
        return folder.resolve("classes.jsa");
    }

    private Optional<ProcessHandle> training() {
        return ProcessHandle.current().children()
            .filter(child -> child.info().commandLine().orElse("").contains("=" + archive())).findFirst();
    }

    @Test
    void shouldEndTheTrainingWithAFailureIfACommandFails() {
        assertEquals(0, ChildArchive.Training.status(List.of("run --version")));
        assertEquals(1, ChildArchive.Training.status(List.of("run --frobnicate", "run --version")));
    }
}
