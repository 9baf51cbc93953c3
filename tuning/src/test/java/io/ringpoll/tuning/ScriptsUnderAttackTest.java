package io.ringpoll.tuning;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The scripts for production machines with hostile records, trees and words. */
@Timeout(120)
class ScriptsUnderAttackTest extends ScriptsFixture {
    private static final String GRUB = "etc/default/grub";
    private static final String PAGES = "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
    private static final String RECORD = UNDO + "huge-pages/000001";

    private void edit(final String path, final String part, final String by) throws IOException {
        final Path file = root.resolve(path);
        Files.writeString(file, Files.readString(file).replace(part, by));
    }

    private void assertFails(final int exit, final String message, final String... words) throws Exception {
        final Map<String, String> before = snapshot();
        final Outcome outcome = run(words);
        assertEquals(exit, outcome.exit(), outcome::toString);
        assertTrue(outcome.err().contains(message), outcome::err);
        assertEquals(1, outcome.err().lines().count(), outcome::err);
        assertEquals(before, snapshot());
    }

    @Test
    void shouldUndoAnEditedFileWhoseUndoWasInterruptedAtAnyStep() throws Exception {
        expand(RecordedTree.parse("sys/devices/system/cpu/online\t0-7\n" + GRUB + "\tGRUB_TIMEOUT=5"));
        boolean interrupted = true;
        int step = 1;
        while (interrupted) {
            succeed("isolate-cpus --cpus 2 --apply");
            edit(GRUB, "TIMEOUT=5", "TIMEOUT=1");
            interrupted = runUntil(step, "KILL", "isolate-cpus", "--undo").exit() > 128;
            succeed("isolate-cpus --undo");
            assertEquals("GRUB_TIMEOUT=1", content(GRUB), "after step " + step);
            assertFalse(Files.exists(root.resolve("var/lib/ringpoll")), "after step " + step);
            edit(GRUB, "TIMEOUT=1", "TIMEOUT=5");
            step += 11;
        }
        assertTrue(step > 60, "only " + step + " steps");
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '`', delimiter = '|', textBlock = """
        `A=1\ncat >/dev/null <<EOF\nx`                       | ends within a here-document
        `A=1\nexit`                                          | may end before its last line ('exit')
        `if [ -e /x ]; then exit 0; fi\nA=1`                 | may end before its last line ('exit')
        `A=1; return # ours`                                 | may end before its last line ('return')
        """)
    void shouldRefuseSettingsWhoseLastLineIsNotExecuted(final String settings, final String message) throws Exception {
        expand(RecordedTree.parse("sys/devices/system/cpu/online\t0-7").with(GRUB, settings.translateEscapes()));
        assertFails(1, "/etc/default/grub " + message, "isolate-cpus", "--cpus", "2", "--apply");
    }

    @Test
    void shouldAddToSettingsThatOnlyNameTheEnd() throws Exception {
        expand(RecordedTree.parse("sys/devices/system/cpu/online\t0-7").with(GRUB,
            "# exit\nGRUB_exit=1\nA=\"no exit\"\ncat >/dev/null <<EOF\nEOF\n"));
        succeed("isolate-cpus --cpus 2 --apply");
        assertTrue(content(GRUB).contains("isolcpus"));
    }

    /** As Fedora is set up; only its package grubby changes these entries. */
    @Test
    void shouldAskForGrubbyWhereTheBootEntriesAreNotGenerated() throws Exception {
        expand(RecordedTree.parse("sys/devices/system/cpu/online\t0-7\nboot/loader/entries/x.conf\toptions quiet")
            .with(GRUB, "GRUB_ENABLE_BLSCFG=true\n"));
        assertFails(1, "install grubby", "isolate-cpus", "--cpus", "2", "--apply");
    }

    @Test
    void shouldGenerateTheBootMenuAgainWhenAnInterruptedUndoGoesOn() throws Exception {
        expand(RecordedTree.parse("sys/devices/system/cpu/online\t0-7\nboot/grub2/x\t\n" + GRUB + "\tGRUB_TIMEOUT=5"));
        succeed("isolate-cpus --cpus 2 --apply");
        edit(GRUB, "TIMEOUT=5", "TIMEOUT=1");
        // Ended between the change of the file and the generation.
        makeCommand("mv", "/bin/mv \"$@\"\nkill -KILL $PPID\n");
        assertEquals(137, run("isolate-cpus", "--undo").exit());
        assertEquals("GRUB_TIMEOUT=1", content(GRUB));
        makeCommand("mv", "exec /bin/mv \"$@\"\n");
        assertTrue(succeed("isolate-cpus --undo").out().contains("grub2-mkconfig"));
    }

    @Test
    void shouldRemoveFoldersThatAnInterruptedUndoHasLeft() throws Exception {
        expand(RecordedTree.parse("sys/devices/system/cpu/online\t0-7"));
        succeed("locked-memory --service x.service --apply");
        Files.delete(root.resolve("etc/systemd/system/x.service.d/ringpoll.conf"));
        Files.delete(root.resolve("etc/systemd/system/x.service.d"));
        succeed("locked-memory --undo");
        assertFalse(Files.exists(root.resolve("etc/systemd")));
        Files.createDirectories(root.resolve("var/lib/ringpoll/undo"));
        succeed("locked-memory --undo");
        assertFalse(Files.exists(root.resolve("var/lib/ringpoll")));
    }

    @Test
    void shouldKeepTheFormerContentWhenNoCopyCanBeMade() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with(UNDO + "kept", "no folder"));
        final String former = Files.readString(root.resolve(GRUB));
        succeed("isolate-cpus --cpus 17 --apply");
        edit(GRUB, "isolcpus", "isolcpu");
        assertFails(1, "its former content cannot be kept as", "isolate-cpus", "--undo");
        assertEquals(former, Files.readString(root.resolve(UNDO + "isolate-cpus/000001.before")));
        Files.delete(root.resolve(UNDO + "kept"));
        final Outcome undone = run("isolate-cpus", "--undo");
        assertEquals(former, Files.readString(Path.of(undone.err().replaceAll("(?s).*its former content is (\\S+).*", "$1"))));
    }

    @Test
    void shouldLeaveNoPartOfAFileOnAFullDisk() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        makeCommand("cp", "[ $1 != -a ] || { echo part >$4; exit 1; }\nexec /bin/cp \"$@\"\n");
        final Map<String, String> before = snapshot();
        final Outcome outcome = run("isolate-cpus", "--cpus", "17", "--apply");
        assertEquals(1, outcome.exit());
        assertEquals("isolate-cpus: /etc/default/grub cannot be written: it stays as it is\n", outcome.err());
        assertFalse(outcome.out().contains("takes effect"), outcome::out);
        succeed("isolate-cpus --undo");
        assertEquals(before, snapshot());
    }

    @ParameterizedTest
    @ValueSource(strings = {"kind=sysctl\nboot=unknown\npath=a\nbefore=1\nwanted=2\nend=\n", "kind=value\nend=\n",
        "kind=file\nboot=unknown\npath=a\nbefore=absent\nwanted=2\nend=\n", "nothing\n[x]=1\nend=\n", "\0\1\2", "before=7\n"})
    void shouldLeaveRecordsOfAnotherVersionAndUndoTheRest(final String text) throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        succeed("huge-pages --pages 5 --apply");
        Files.writeString(root.resolve(UNDO + "huge-pages/000007"), text);
        final Outcome undone = run("huge-pages", "--undo");
        assertEquals(1, undone.exit(), undone::toString);
        assertTrue(undone.err().contains("/000007 is no record of this huge-pages: it stays"), undone::err);
        assertEquals(1, undone.err().lines().count(), undone::err);
        assertEquals("0", content(PAGES));
        assertEquals(text, Files.readString(root.resolve(UNDO + "huge-pages/000007")));
        assertFalse(Files.exists(root.resolve(RECORD)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ki", "kind=value\nboot=unk"})
    void shouldDropRecordsThatWereInterrupted(final String text) throws Exception {
        expand(RecordedTree.named("two-socket-smt").with(RECORD, ""));
        Files.writeString(root.resolve(RECORD), text);
        succeed("huge-pages --undo");
        assertFalse(Files.exists(root.resolve("var/lib/ringpoll")));
    }

    @Test
    void shouldNotTakeAnEmptyRootForThisMachine() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        for (final String script : List.of("isolate-cpus", "huge-pages", "record-tree")) {
            assertFails(2, script + ": --root needs a", script, "--root", "");
        }
    }

    @Test
    void shouldTakeARootWithLinksOrRelativeToTheCurrentFolder() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        Files.move(root.resolve(GRUB), root.resolve("etc/grub.real"));
        Files.createSymbolicLink(root.resolve(GRUB), Path.of("../grub.real"));
        final Path link = Files.createSymbolicLink(folder.resolve("link"), root);
        for (final Path given : List.of(link, Path.of("").toAbsolutePath().relativize(root))) {
            succeed("isolate-cpus --cpus 17 --root " + given + " --apply");
            assertTrue(content("etc/grub.real").contains("isolcpus"));
            succeed("isolate-cpus --root " + given + " --undo");
            assertFalse(content("etc/grub.real").contains("isolcpus"));
        }
        assertTrue(Files.isSymbolicLink(root.resolve(GRUB)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"etc/security", "var/lib", "var"})
    void shouldNotFollowALinkOutOfTheTree(final String name) throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        final Path outside = Files.createDirectory(folder.resolve("outside"));
        Files.createDirectories(root.resolve(name).getParent());
        Files.createSymbolicLink(root.resolve(name), outside);
        assertFails(1, "outside " + root, "locked-memory", "--user", "alice", "--apply");
        try (Stream<Path> files = Files.list(outside)) {
            assertEquals(List.of(), files.toList());
        }
    }

    @Test
    void shouldNotChangeATreeThatHasTheFilesOfThisMachine() throws Exception {
        expand(RecordedTree.parse("etc/x\t"));
        Files.createSymbolicLink(root.resolve("sys"), Path.of("/sys"));
        // A script that writes nothing below /sys: if it is not refused, this machine stays as it is.
        assertFails(2, "its /sys is that of this machine", "locked-memory", "--user", "alice", "--apply");
        assertFails(2, "its /sys is that of this machine", "locked-memory", "--undo");
    }

    @Test
    void shouldRefuseALongListOfCpusAtOnce() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        final long start = System.nanoTime();
        assertFails(2, "is not a list of CPUs", "isolate-cpus", "--cpus", "0-99999,".repeat(500) + "0");
        assertTrue(System.nanoTime() - start < 20e9, "took " + (System.nanoTime() - start) / 1e9 + " s");
    }

    @Test
    void shouldReportAWordWithALineFeedInOneLine() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        assertFails(2, "--cpus '2?x'", "isolate-cpus", "--cpus", "2\nx");
    }

    @Test
    void shouldLeaveMemoryToTheRestOfTheMachine() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with("proc/meminfo",
            "MemTotal:       16777216 kB\\nMemAvailable:   10485760 kB").with("sys/devices/system/node/node1/meminfo",
            "Node 1 MemTotal:        8388608 kB\\nNode 1 MemFree:         2097152 kB")
            .with("sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages", "0"));
        assertFails(1, "--pages 4609 takes 9218 MiB more, and 10240 MiB are free: leave a", "huge-pages", "--pages", "4609");
        assertFails(1, "2048 MiB are free on node 1", "huge-pages", "--pages", "1000", "--node", "1", "--apply");
        succeed("huge-pages --pages 4608");
        succeed("huge-pages --pages 900 --node 1");
        edit("proc/meminfo", "Available", "Other");
        assertFails(1, "16384 MiB are free", "huge-pages", "--pages", "999999999", "--apply");
        // Giving pages back is always possible.
        Files.writeString(root.resolve(PAGES), "999999\n");
        succeed("huge-pages --pages 999998");
    }

    @Test
    void shouldNotMakeTheCommandLineLongerThanTheKernelReads() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with(CPU
            + "online", "0-1023"));
        final String odd = IntStream.range(0, 512).mapToObj(pair -> 2 * pair + 1 + "").collect(Collectors.joining(","));
        assertFails(1, " characters, and it takes 2047: isolate CPUs that make fewer ranges", "isolate-cpus", "--cpus", odd,
            "--apply");
        succeed("isolate-cpus --cpus 1-1000");
    }

    @Test
    void shouldMoveInterruptsInStepsThatDoNotGrowWithTheSquareOfTheCpus() throws Exception {
        final int few = stepsToMoveInterrupts(64);
        final int many = stepsToMoveInterrupts(512);
        assertTrue(many < 12 * few, few + " commands for 64 CPUs and interrupts, " + many + " for 512");
    }

    /** The number of commands that bash runs for a machine with as many interrupts as CPUs. */
    private int stepsToMoveInterrupts(final int cpus) throws Exception {
        root = Files.createDirectory(folder.resolve("cpus-" + cpus));
        final String all = "0-" + (cpus - 1);
        Files.writeString(Files.createDirectories(root.resolve(CPU)).resolve("online"), all + "\n");
        for (int irq = 0; irq < cpus; irq++) {
            final Path interrupt = Files.createDirectories(root.resolve("proc/irq/" + irq));
            Files.writeString(interrupt.resolve("smp_affinity_list"), all + "\n");
        }
        final Path hook = Files.writeString(folder.resolve("count.bash"), "steps=0\ntrap 'steps=$((steps + 1))' DEBUG\n"
            + "trap 'trap - DEBUG; echo \"$steps\" > " + folder.resolve("steps") + "' EXIT\nset -T\n");
        environment.put("BASH_ENV", hook.toString());
        try {
            final Outcome outcome = run("move-interrupts", "--away-from", "2-40");
            assertEquals(0, outcome.exit(), outcome::err);
            assertTrue(outcome.out().contains("/proc/irq/" + (cpus - 1) + "/smp_affinity_list: " + all + " -> 0-1,41-"),
                outcome::out);
        } finally {
            environment.remove("BASH_ENV");
        }
        return Integer.parseInt(Files.readString(folder.resolve("steps")).strip());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", value = {
        "0-7|2-3|0-1,4-7", "0-7|0-7|-", "0-7|-|0-7", "-|0-7|-", "3,1,2|2|1,3", "0-3,2-5,7|5-9|0-4", "0-1,4-5,8-9|1-8|0,9",
        "5-6|0-4,7-9|5-6", "010-012|11|10,12", "0-1023|0,2,4,1023|1,3,5-1022", "0,2,4,6|1,3,5|0,2,4,6", "0-9|3,5,7|0-2,4,6,8-9"})
    void shouldTakeTheCpusOfAListOutOfAnother(final String list, final String taken, final String left) throws Exception {
        final String script = "script=x; . ./lib.sh; minus \"$1\" \"$2\"; rest=$REPLY; both \"$1\" \"$2\"; common=$REPLY;"
            + " either \"$rest\" \"$common\"; whole=$REPLY; either \"$1\" ''; echo \"$rest;$whole;$REPLY\"";
        final Process process = new ProcessBuilder("bash", "-euc", script, "bash", list == null ? "" : list,
            taken == null ? "" : taken).directory(SCRIPTS.toFile()).redirectErrorStream(true).start();
        process.getOutputStream().close();
        final String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assertEquals(0, process.waitFor(), printed);
        final String[] lists = printed.split(";", -1);
        assertEquals(left == null ? "" : left, lists[0]);
        // Both parts together are the list again.
        assertEquals(lists[2], lists[1]);
    }

    @Test
    void shouldIsolateAgainWhenItsLineIsCommentedOut() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        succeed("isolate-cpus --cpus 17 --apply");
        edit(GRUB, "GRUB_CMDLINE_LINUX_DEFAULT=\"${", "#GRUB_CMDLINE_LINUX_DEFAULT=\"${");
        assertTrue(succeed("isolate-cpus --cpus 17 --apply").out().contains("wrote /etc/default/grub"));
        assertTrue(content(GRUB).lines().anyMatch(line -> line.startsWith("GRUB_CMDLINE_LINUX_DEFAULT=\"${")));
    }

    @Test
    void shouldRecordIntoADeviceOrPipeWithoutReplacingIt() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        final Path pipe = folder.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        final Path read = folder.resolve("read");
        final Process reader = new ProcessBuilder("cat", pipe.toString()).redirectOutput(read.toFile()).start();
        try {
            succeed("record-tree --output " + pipe);
            assertEquals(0, reader.waitFor());
        } finally {
            reader.destroy();
        }
        assertFalse(Files.isRegularFile(pipe));
        assertEquals(succeed("record-tree").out(), Files.readString(read));
    }

    @Test
    void shouldRecordIntoTheFileThatALinkNames() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        final Path link = Files.createSymbolicLink(folder.resolve("link.tree"), Path.of("real.tree"));
        succeed("record-tree --output " + link);
        assertTrue(Files.isSymbolicLink(link));
        assertArrayEquals(succeed("record-tree").out().getBytes(), Files.readAllBytes(folder.resolve("real.tree")));
    }

    @Test
    void shouldNotRecordIntoAFolderOrNowhere() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        assertFails(2, "is a folder: name a file in it", "record-tree", "--output", folder.toString());
        assertFails(2, "--output needs a value", "record-tree", "--output", "");
        assertFails(1, "cannot be written: name another file", "record-tree", "--output", folder + "/none/x");
    }

    @Test
    void shouldReportARecordingThatCannotBeWrittenToTheEnd() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        final Process process = new ProcessBuilder(SCRIPTS.resolve("record-tree").toString(), "--root", root.toString())
            .redirectOutput(Path.of("/dev/full").toFile()).start();
        assertEquals("record-tree: standard output cannot be written to the end: the disk is full or failing\n",
            new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8));
        assertEquals(1, process.waitFor());
    }

    @Test
    void shouldNotShareTheLockOfAFolderThatAnotherRunHasRemoved() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        // As another run, which ends between the opening of the lock and the locking, does.
        makeCommand("flock", "rm -rf " + root + "/var/lib/ringpoll\nexec /usr/bin/flock \"$@\"\n");
        assertFails(1, "another huge-pages is running", "huge-pages", "--pages", "5", "--apply");
    }

    @Test
    void shouldReadSettingsWithOtherLineEnds() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        final String settings = "GRUB_TIMEOUT=5\r\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\r\n";
        Files.writeString(root.resolve(GRUB), settings, StandardOpenOption.TRUNCATE_EXISTING);
        succeed("isolate-cpus --cpus 17 --apply");
        succeed("isolate-cpus --undo");
        assertEquals(settings, Files.readString(root.resolve(GRUB)));
    }
}
