package io.ringpoll.internal.counters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.internal.os.ProcessOwner;
import io.ringpoll.internal.poller.CounterType;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.poller.SyntheticQueue;
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.ProcessResources;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.status.AtomicCounter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class CountersFileTest {
    /** Above the largest process id of Linux. */
    private static final long NO_SUCH_PID = 4_194_305;

    @TempDir
    private Path folder;

    @Test
    void shouldExposeTheCountersOfAPipelineToOtherProcesses() {
        try (Pipeline pipeline = Pipeline.builder()
                .name("orders")
                .ringSize(256)
                .countersFolder(folder.resolve("new"))
                .onAll((wc, sequence, endOfBatch) -> {
                    if (wc.workRequestId() % 100 == 0) {
                        throw new IllegalStateException("provoked");
                    }
                })
                .queue(new SyntheticQueue("queue", 3000))
                .start()) {
            assertTrue(pipeline.drain(TimeUnit.SECONDS.toNanos(20)).inTime());
            final List<Path> files = CountersFolder.files(folder.resolve("new"));
            assertEquals(List.of(pipeline.countersFile()), files);
            assertEquals(ProcessHandle.current().pid(), CountersFolder.pid(files.getFirst()));
            assertShows(CountersSnapshot.read(files.getFirst()));
        }
        assertEquals(List.of(), CountersFolder.files(folder.resolve("new")));
    }

    private static void assertShows(final CountersSnapshot snapshot) {
        assertEquals(ProcessHandle.current().pid(), snapshot.pid());
        assertEquals("orders", snapshot.name());
        assertTrue(snapshot.isAlive());
        assertEquals(1000, snapshot.value(CounterType.SEND_WRITES, "orders-poller"));
        assertEquals(1000, snapshot.value(CounterType.RECEIVES, "orders-poller"));
        assertEquals(1000, snapshot.value(CounterType.ERRORS, "orders-poller"));
        assertEquals(3000, snapshot.value(CounterType.PUBLISHED, "orders-poller"));
        assertEquals(3000, snapshot.value(CounterType.HANDLER_POSITION, "orders-all"));
        assertEquals(3000, snapshot.value(CounterType.HANDLED, "orders-all"));
        assertEquals(30, snapshot.value(CounterType.HANDLER_EXCEPTIONS, "orders-all"));
        assertEquals(256, snapshot.value(CounterType.RING_SIZE, "orders"));
        assertTrue(snapshot.counters().stream().anyMatch(counter ->
            counter.type() == CounterType.ERRORS_BY_STATUS && counter.parameter() == WcStatus.WR_FLUSH_ERR &&
            counter.value() == 1000 && counter.label().equals("orders-poller: errors, IBV_WC_WR_FLUSH_ERR")));
        assertEquals(1, snapshot.errors().size());
        assertEquals(30, snapshot.errors().getFirst().count());
        assertTrue(snapshot.errors().getFirst().text().startsWith("java.lang.IllegalStateException: provoked"));
    }

    @Test
    void shouldFailOnAFullFileSystemAndLeaveNoPartialFile() throws IOException, InterruptedException {
        // The file size limit ends a write part-way, as a full file system does.
        final List<String> command = new ArrayList<>(List.of("bash", "-c", "ulimit -f 64; exec \"$@\"", "limited",
            Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:-UsePerfData", "-Xshare:auto"));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(argument -> argument.startsWith("--add-opens") || argument.startsWith("--enable-native")).toList());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Creating.class.getName(), folder.toString()));
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        final List<String> lines = process.inputReader().lines().toList();
        assertEquals(0, process.waitFor(), lines.toString());
        assertEquals(List.of("the counters file cannot be created in " + folder + ": File too large"), lines);
        assertEquals(List.of(), CountersFolder.files(folder));
    }

    @Test
    void shouldKeepTheFilesOfContainersThatShareTheFolder() throws IOException {
        final Path elsewhere = Files.createFile(folder.resolve(NO_SUCH_PID + "-1-1.counters"));
        final Path here = Files.createFile(CountersFolder.newFile(folder, NO_SUCH_PID, 2));
        try (CountersFile file = CountersFile.create(folder, "p")) {
            assertEquals(ProcessHandle.current().pid(), CountersFolder.pid(file.path()));
            assertTrue(Files.exists(elsewhere), "its process id is that of a process in another namespace");
            assertFalse(Files.exists(here));
        }
    }

    @Test
    void shouldNameTheReasonForAFolderThatCannotBeMade() {
        final Path impossible = Path.of("/proc/ringpoll");
        assertEquals(
            "the counters file cannot be created in /proc/ringpoll: /proc/ringpoll: no such file or directory",
            assertThrows(UncheckedIOException.class, () -> CountersFile.create(impossible, "p")).getMessage());
    }

    @Test
    void shouldCreateTheFileWhenTheCallerIsInterrupted() throws InterruptedException {
        final AtomicInteger made = new AtomicInteger();
        final Thread caller = new Thread(() -> {
            for (int i = 0; i < 50; i++) {
                Thread.currentThread().interrupt();
                CountersFile.create(folder, "interrupted").close();
                made.addAndGet(Thread.interrupted() ? 1 : 0);
            }
        });
        caller.start();
        while (caller.isAlive()) {
            caller.join(1);
            caller.interrupt();
        }
        assertEquals(50, made.get());
        assertEquals(List.of(), CountersFolder.files(folder));
    }

    @Test
    void shouldWriteTheWholeFileWithPartialWrites() throws IOException {
        final AtomicInteger written = new AtomicInteger();
        CountersFile.allocate(new WritableByteChannel() {
            @Override
            public int write(final ByteBuffer source) {
                final int count = Math.min(4096, source.remaining());
                source.position(source.position() + count);
                written.addAndGet(count);
                return count;
            }

            @Override
            public boolean isOpen() {
                return true;
            }

            @Override
            public void close() {
            }
        });
        assertEquals(CountersFileLayout.FILE_LENGTH, written.get());
    }

    /** A program that creates a counters file and writes all of it. */
    static final class Creating {
        private Creating() {
        }

        public static void main(final String[] arguments) {
            final PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true);
            try (CountersFile file = CountersFile.create(Path.of(arguments[0]), "full")) {
                for (int i = 0; i < CountersFileLayout.COUNTERS; i++) {
                    CounterType.POLLS.allocate(file.counters(), "full").increment();
                }
                out.println("created");
            } catch (final UncheckedIOException refused) {
                out.println(refused.getMessage());
            }
        }
    }

    @Test
    void shouldListTheFilesOfAProcessInTheOrderOfTheirCreation() throws IOException {
        final List<Path> files = new ArrayList<>();
        for (final long pid : new long[] {99, 100}) {
            for (final int number : new int[] {9, 10, 100}) {
                files.add(Files.createFile(CountersFolder.newFile(folder, pid, number)));
            }
        }
        assertEquals(files, CountersFolder.files(folder));
    }

    @Test
    void shouldRestrictFolderAndFileToTheUser() throws IOException {
        final Path own = folder.resolve("own");
        try (CountersFile file = CountersFile.create(own, "orders")) {
            assertEquals(PosixFilePermissions.fromString("rwx------"), Files.getPosixFilePermissions(own));
            assertEquals(PosixFilePermissions.fromString("rw-------"), Files.getPosixFilePermissions(file.path()));
        }
    }

    @Test
    void shouldRemoveOnlyTheFilesOfEndedProcesses() throws IOException {
        final Path dead = Files.createFile(folder.resolve(NO_SUCH_PID + "-1.counters"));
        final Path living = Files.createFile(folder.resolve(ProcessHandle.current().pid() + "-99999.counters"));
        final Path foreign = Files.createFile(folder.resolve(NO_SUCH_PID + "-notes.txt"));
        try (CountersFile file = CountersFile.create(folder, "orders")) {
            assertFalse(Files.exists(dead));
            assertTrue(Files.exists(living));
            assertTrue(Files.exists(foreign));
            assertTrue(Files.exists(file.path()));
        }
    }

    @Test
    void shouldShowAPipelineOfAnotherNamespaceAsRunningUntilItsProcessIsKilled() throws Exception {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JavaProcess.flags());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Holding.class.getName(), folder.toString()));
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            final String printed = process.inputReader().readLine();
            final Path file = Path.of(printed);
            // Otherwise a failure of the program would be the name of a new file.
            assertTrue(file.startsWith(folder), printed);
            // In another PID namespace the process has a number that is free here, or another process's.
            for (final long foreignPid : new long[] {NO_SUCH_PID, 1}) {
                try (RandomAccessFile header = new RandomAccessFile(file.toFile(), "rw")) {
                    header.seek(CountersFileLayout.PID_OFFSET);
                    header.write(ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(foreignPid).array());
                }
                assertEquals(foreignPid, CountersSnapshot.read(file).pid());
                assertTrue(CountersSnapshot.read(file).isAlive());
            }
            process.destroyForcibly().waitFor();
            assertFalse(CountersSnapshot.read(file).isAlive());
        } finally {
            process.destroyForcibly();
        }
    }

    /** A program that creates a counters file, prints its path and runs on. */
    static final class Holding {
        private static final PrintStream OUT = System.out;

        private Holding() {
        }

        public static void main(final String[] arguments) throws InterruptedException {
            OUT.println(CountersFile.create(Path.of(arguments[0]), "held").path());
            Thread.sleep(TimeUnit.MINUTES.toMillis(2));
        }
    }

    @Test
    void shouldReleaseTheFileOnCloseAndKeepItWhenOthersReadIt() throws IOException {
        final int before = ProcessResources.fileDescriptors();
        for (int i = 0; i < 50; i++) {
            final CountersFile file = CountersFile.create(folder, "orders");
            final Path second = Files.createLink(folder.resolve("link"), file.path());
            assertTrue(CountersSnapshot.read(second).isAlive());
            assertTrue(CountersSnapshot.read(second).isAlive(), "a reader in the same process has ended the hold");
            file.close();
            file.close();
            assertFalse(CountersSnapshot.read(second).isAlive());
            Files.delete(second);
        }
        assertTrue(ProcessResources.fileDescriptors() < before + 50, "descriptors leaked");
    }

    @Test
    void shouldRemainReadableInItsProcessAfterTheFileIsRemoved() {
        final CountersFile file = CountersFile.create(folder, "orders");
        final AtomicCounter counter = CounterType.POLLS.allocate(file.counters(), "poller");
        file.close();
        assertFalse(Files.exists(file.path()));
        counter.incrementRelease();
        assertEquals(1, counter.get());
    }

    @Test
    void shouldStateInOneLineWhyAFileCannotBeRead() throws IOException {
        assertComplaint(Files.writeString(folder.resolve("a"), "x".repeat(1000)), "it is not a ringpoll counters file");
        assertComplaint(Files.write(folder.resolve("b"), new byte[0]), "it is too short for a header");
        final CountersFileException missing =
            assertThrows(CountersFileException.class, () -> CountersSnapshot.read(folder.resolve("c")));
        assertEquals(
            folder.resolve("c") + " does not exist: the process has ended, or runs no pipeline", missing.getMessage());
        final byte[] bytes = sample();
        ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).putInt(CountersFileLayout.VERSION_OFFSET, 77);
        assertComplaint(Files.write(folder.resolve("d"), bytes), "its version is 77, and this release reads version 1");
    }

    @Test
    void shouldDeriveTheFolderFromTheUserIdOnly() throws IOException {
        final String userName = System.getProperty("user.name");
        // As the JVM sets it for a uid that /etc/passwd does not list.
        System.setProperty("user.name", "?");
        try {
            final Path own = folder.resolve("own");
            CountersFolder.create(own);
            CountersFolder.create(own);
            assertTrue(CountersFolder.defaultFolder().endsWith("ringpoll-" + ProcessOwner.uid()));
        } finally {
            System.setProperty("user.name", userName);
        }
    }

    @Test
    void shouldRefuseAFolderOfAnotherUser() throws IOException {
        final Path foreign;
        if (ProcessOwner.uid() == 0) {
            foreign = Files.createDirectory(folder.resolve("foreign"));
            Files.setAttribute(foreign, "unix:uid", 12_345);
        } else {
            foreign = Path.of("/");
        }
        final IOException refused = assertThrows(IOException.class, () -> CountersFolder.create(foreign));
        assertEquals("it belongs to user " + ProcessOwner.uidOf(foreign), refused.getMessage());
    }

    @Test
    void shouldReadOrRejectAnyCorruptFile() throws IOException {
        final byte[] sound = sample();
        final Random random = new Random(7);
        final Path file = folder.resolve("damaged");
        final Set<String> complaints = new HashSet<>();
        int read = 0;
        for (int round = 0; round < 400; round++) {
            Files.write(file, damage(sound, random));
            try {
                CountersSnapshot.read(file);
                read++;
            } catch (final CountersFileException refused) {
                assertFalse(refused.getMessage().contains("\n"));
                complaints.add(refused.getMessage());
            }
        }
        assertTrue(read > 0);
        assertTrue(complaints.size() > 3, complaints.toString());
    }

    private byte[] sample() throws IOException {
        try (CountersFile file = CountersFile.create(folder, "orders")) {
            for (int i = 0; i < 40; i++) {
                CounterType.POLLS.allocate(file.counters(), "poller " + i).setRelease(i);
            }
            file.errorLog().record(new IllegalStateException("provoked"));
            return Files.readAllBytes(file.path());
        }
    }

    /** Truncates a file, or overwrites numbers in its header, metadata or error log; rarely the magic number. */
    private static byte[] damage(final byte[] sound, final Random random) {
        final byte[] damaged =
            random.nextInt(10) == 0 ? Arrays.copyOf(sound, random.nextInt(sound.length)) : sound.clone();
        final int metadataEnd = CountersFileLayout.METADATA_OFFSET + 40 * 512;
        final int errorLog =
            CountersFileLayout.METADATA_OFFSET + CountersFileLayout.METADATA_LENGTH + CountersFileLayout.VALUES_LENGTH;
        for (int i = random.nextInt(20); i >= 0; i--) {
            final int offset = 4 * switch (random.nextInt(3)) {
                case 0 -> random.nextInt(CountersFileLayout.METADATA_OFFSET / 4);
                case 1 -> random.nextInt(metadataEnd / 4);
                default -> errorLog / 4 + random.nextInt(16);
            };
            final boolean inMagic = offset >= CountersFileLayout.MAGIC_OFFSET && offset < CountersFileLayout.PID_OFFSET;
            if (offset + 4 <= damaged.length && (!inMagic || random.nextInt(20) == 0)) {
                final int value = random.nextBoolean() ? random.nextInt() : random.nextInt(3) - 1;
                ByteBuffer.wrap(damaged).order(ByteOrder.nativeOrder()).putInt(offset, value);
            }
        }
        return damaged;
    }

    private static void assertComplaint(final Path file, final String complaint) {
        final CountersFileException refused =
            assertThrows(CountersFileException.class, () -> CountersSnapshot.read(file));
        assertEquals(file + " cannot be read: " + complaint, refused.getMessage());
    }
}
