package io.ringpoll.tuning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.tuning.doctor.CheckResult;
import io.ringpoll.internal.tuning.doctor.Doctor;
import io.ringpoll.internal.tuning.doctor.Examined;
import io.ringpoll.internal.tuning.doctor.Finding;
import io.ringpoll.internal.tuning.doctor.Jvm;
import io.ringpoll.internal.tuning.doctor.Verdict;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.Surroundings;
import io.ringpoll.internal.tuning.topology.Topology;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The scripts for production machines, on recorded trees only: with a root other than / they run no command. */
@Timeout(120)
class ScriptsTest extends ScriptsFixture {
    private static final String ADAPTER = "sys/class/infiniband/mlx5_0/device/";

    @ParameterizedTest
    @ValueSource(strings = {
        "isolate-cpus --cpus 17-21,49-53", "move-interrupts --away-from 17-21", "cpu-power --cpus 17-21 --governor performance",
        "cpu-power --cpus 17-21 --max-exit-us 10", "huge-pages --pages 512", "huge-pages --transparent madvise",
        "locked-memory --user alice", "locked-memory --service trading.service --limit 1048576"})
    void shouldShowApplyAndUndoChanges(final String line) throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        final Map<String, String> before = snapshot();
        final Outcome shown = succeed(line);
        assertEquals(before, snapshot(), "changed without --apply");
        assertTrue(shown.out().contains("would "), shown::out);
        assertTrue(shown.out().contains("--apply makes these changes"), shown::out);

        succeed(line + " --apply");
        final Map<String, String> applied = snapshot();
        final String script = line.substring(0, line.indexOf(' '));
        assertTrue(applied.containsKey(UNDO + script + "/000001"), applied::toString);
        assertFalse(without(applied, UNDO).equals(before), "--apply changed nothing");

        final Outcome again = succeed(line + " --apply");
        assertFalse(again.out().contains("set /"), again::out);
        assertEquals(applied, snapshot(), "applying twice is not the same as once");

        succeed(script + " --undo");
        assertEquals(before, snapshot(), "--undo does not restore the previous state");
        assertTrue(succeed(script + " --undo").out().contains("nothing is recorded"));
    }

    private static Map<String, String> without(final Map<String, String> files, final String folder) {
        final Map<String, String> rest = new TreeMap<>(files);
        rest.keySet().removeIf(path -> path.startsWith(folder));
        return rest;
    }

    private static String isolation(final String cpus, final String others) {
        return "isolcpus=managed_irq,domain," + cpus + " nohz_full=" + cpus + " rcu_nocbs=" + cpus + " irqaffinity=" + others;
    }

    /** The value of the variable of the normal boot entries in a shell. */
    private String commandLineOf(final String file) throws IOException, InterruptedException {
        final Process process = new ProcessBuilder("sh", "-euc", ". \"$0\"; printf %s \"$GRUB_CMDLINE_LINUX_DEFAULT\"",
            root.resolve(file).toString()).redirectErrorStream(true).start();
        final String value = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), value);
        return value;
    }

    @Test
    void shouldIsolateCpusThroughTheBootLoaderSettings() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with("usr/sbin/update-grub", ""));
        Files.setPosixFilePermissions(root.resolve("usr/sbin/update-grub"), PosixFilePermissions.fromString("rwxr-xr-x"));
        final Outcome outcome = succeed("isolate-cpus --cpus 17,18,49-50 --apply");
        assertEquals("quiet " + isolation("17-18,49-50", "0-16,19-48,51-63"), commandLineOf("etc/default/grub"));
        assertTrue(outcome.out().contains("not run below " + root + ": update-grub"), outcome::out);
        final Outcome undone = succeed("isolate-cpus --undo");
        final int restored = undone.out().indexOf("restored /etc/default/grub");
        assertTrue(restored >= 0 && restored < undone.out().indexOf("update-grub"), undone::out);
    }

    @Test
    void shouldReadZerosBeforeNumbersAsDecimal() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        assertTrue(succeed("isolate-cpus --cpus 010-011,0018").out().contains("isolcpus=managed_irq,domain,10-11,18 "));
        assertTrue(succeed("huge-pages --pages 0512").out().contains("nr_hugepages: 0 -> 512"));
        assertTrue(succeed("locked-memory --service x.service --limit 010").out().contains("LimitMEMLOCK=10240"));
        final Outcome states = succeed("cpu-power --cpus 08 --max-exit-us 010");
        assertTrue(states.out().contains("/cpu8/cpuidle/state3/disable: 0 -> 1"), states::out);
        assertEquals("0a 00 00 00", succeed("run-pinned --latency-us 010 --apply -- od -An -tx1 " + root + "/dev/cpu_dma_latency")
            .out().strip());
    }

    @Test
    void shouldPreferADropInToEditingTheBootLoaderSettings() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with("etc/default/grub.d/init-select.cfg", ""));
        succeed("isolate-cpus --cpus 17 --apply");
        assertEquals(isolation("17", "0-16,18-63"), commandLineOf("etc/default/grub.d/zz-ringpoll.cfg"));
        succeed("isolate-cpus --undo");
        assertFalse(Files.exists(root.resolve("etc/default/grub.d/zz-ringpoll.cfg")));
    }

    /** Settings, as the bytes of the file, and the command line that a shell reads from them. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
        "GRUB_CMDLINE_LINUX_DEFAULT=\"a b\"\\nGRUB_X=1\\n|a b",
        "GRUB_CMDLINE_LINUX_DEFAULT='a b' # it's a comment\\n|a b",
        "GRUB_CMDLINE_LINUX_DEFAULT=\"a \\\\\\nb\"\\n|a b",
        "GRUB_CMDLINE_LINUX_DEFAULT=a GRUB_Y=2\\n|a",
        "GRUB_CMDLINE_LINUX_DEFAULT=a\\nGRUB_X=1 \\\\\\n|a",
        "GRUB_CMDLINE_LINUX_DEFAULT=a\\nGRUB_X=1\\\\|a",
        "GRUB_CMDLINE_LINUX_DEFAULT=a\\n# isolcpus=3 # 'quoted|a",
        "GRUB_CMDLINE_LINUX_DEFAULT=a #isolcpus=3\\n|a",
        "GRUB_X='no line feed at the end'|``"})
    void shouldKeepSettingsOfTheBootLoaderValid(final String settings, final String before) throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        final String text = settings.replace("\\n", "\n").replace("\\\\", "\\");
        final Path file = root.resolve("etc/default/grub");
        Files.writeString(file, text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        succeed("isolate-cpus --cpus 17 --apply");
        assertEquals((before.isEmpty() ? "" : before + " ") + isolation("17", "0-16,18-63"), commandLineOf("etc/default/grub"));
        assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        succeed("isolate-cpus --undo");
        assertEquals(text, Files.readString(file));
        assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    }

    @Test
    void shouldLeaveSettingsThatNoShellCanReadAsTheyAre() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with("etc/default/grub", "GRUB_CMDLINE_LINUX=\"quiet"));
        final Outcome outcome = run("isolate-cpus", "--cpus", "17", "--apply");
        assertEquals(1, outcome.exit());
        assertTrue(outcome.err().contains("/etc/default/grub is no valid shell"), outcome::err);
        assertFalse(Files.exists(root.resolve("var/lib/ringpoll")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"GRUB_CMDLINE_LINUX=\"isolcpus=4\"", "GRUB_X='#' GRUB_CMDLINE_LINUX=\"a nohz_full=4\"",
        "GRUB_CMDLINE_LINUX=\"a # irqaffinity=4\"", "GRUB_CMDLINE_LINUX=\"a\\n\\\\\\n rcu_nocbs=4\""})
    void shouldNotIsolateTwice(final String settings) throws Exception {
        expand(RecordedTree.named("two-socket-smt").with("etc/default/grub", settings));
        final Outcome outcome = run("isolate-cpus", "--cpus", "17");
        assertEquals(1, outcome.exit());
        assertTrue(outcome.err().contains("/etc/default/grub isolates CPUs already"), outcome::err);
    }

    @Test
    void shouldRefuseToIsolateOtherCpusBeforeItsOwnAreUndone() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        succeed("isolate-cpus --cpus 17 --apply");
        final Outcome outcome = run("isolate-cpus", "--cpus", "18", "--apply");
        assertEquals(1, outcome.exit());
        assertTrue(outcome.err().contains("isolate-cpus --undo"), outcome::err);
    }

    @Test
    void shouldAddALineToTheCommandLineOfKernelInstall() throws Exception {
        expand(RecordedTree.named("two-socket-smt").without("etc/default").with("etc/kernel/cmdline", "root=/dev/sda1 quiet"));
        final Outcome outcome = succeed("isolate-cpus --cpus 17 --apply");
        assertEquals("root=/dev/sda1 quiet\n" + isolation("17", "0-16,18-63"), content("etc/kernel/cmdline"));
        assertTrue(outcome.out().contains("kernel-install add-all"), outcome::out);
        assertTrue(succeed("isolate-cpus --cpus 17 --apply").out().contains("as it should be"));
        succeed("isolate-cpus --undo");
        assertEquals("root=/dev/sda1 quiet", content("etc/kernel/cmdline"));
    }

    @Test
    void shouldKeepEditsThatWereMadeBesideItsOwn() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        succeed("isolate-cpus --cpus 17 --apply");
        final Path file = root.resolve("etc/default/grub");
        Files.writeString(file, "GRUB_TIMEOUT=1\n" + Files.readString(file) + "GRUB_Z=1\n");
        final Outcome undone = succeed("isolate-cpus --undo");
        assertTrue(undone.out().contains("removed what was added to /etc/default/grub"), undone::out);
        assertEquals("GRUB_TIMEOUT=1\nGRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX=\"\"\nGRUB_Z=1\n",
            Files.readString(file));
    }

    @Test
    void shouldNameAFileThatWasChangedSinceAndLeaveIt() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        succeed("locked-memory --user alice --apply");
        final Path file = root.resolve("etc/security/limits.d/90-ringpoll-alice.conf");
        Files.writeString(file, "alice - memlock 1\n");
        final Outcome undone = run("locked-memory", "--undo");
        assertEquals(1, undone.exit());
        assertTrue(undone.err().contains("90-ringpoll-alice.conf was changed since: it stays as it is"), undone::err);
        assertEquals("alice - memlock 1\n", Files.readString(file));
        assertTrue(succeed("locked-memory --undo").out().contains("nothing is recorded"));
    }

    @Test
    void shouldKeepTheFormerContentOfAFileThatStays() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        succeed("move-interrupts --away-from 17-21 --apply");
        Files.writeString(root.resolve("etc/default/irqbalance"), "IRQBALANCE_ARGS=x\n");
        final Outcome undone = run("move-interrupts", "--undo");
        assertEquals(1, undone.exit());
        final String copy = undone.err().replaceAll("(?s).*its former content is (\\S+).*", "$1");
        assertEquals("#IRQBALANCE_BANNED_CPULIST=\nIRQBALANCE_ARGS=\n", Files.readString(Path.of(copy)));
        assertEquals("IRQBALANCE_ARGS=x", content("etc/default/irqbalance"));
        assertEquals("17", content("proc/irq/202/smp_affinity_list"));
    }

    @Test
    void shouldNameAValueThatWasChangedSinceAndLeaveIt() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        succeed("cpu-power --cpus 17-18 --governor performance --apply");
        Files.writeString(root.resolve(CPU + "cpu17/cpufreq/scaling_governor"), "ondemand\n");
        final Outcome undone = run("cpu-power", "--undo");
        assertEquals(1, undone.exit());
        assertTrue(undone.err().contains("cpu17/cpufreq/scaling_governor is 'ondemand', not 'performance'"), undone::err);
        assertEquals(1, undone.err().lines().count(), undone::err);
        assertEquals("ondemand", content(CPU + "cpu17/cpufreq/scaling_governor"));
        assertEquals("powersave", content(CPU + "cpu18/cpufreq/scaling_governor"));
    }

    @Test
    void shouldLeaveValuesOfAnotherBoot() throws Exception {
        final String boot = "proc/sys/kernel/random/boot_id";
        expand(RecordedTree.named("two-socket-smt").with(boot, "first"));
        succeed("huge-pages --pages 512 --apply");
        succeed("locked-memory --user alice --apply");
        Files.writeString(root.resolve(boot), "second\n");
        // By chance the value is that of the script: the boot has set it.
        final Outcome undone = succeed("huge-pages --undo");
        assertTrue(undone.out().contains("values set before the last boot, which has set them anew and which stay: 1"),
            undone::out);
        assertEquals("512", content("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"));
        assertTrue(succeed("huge-pages --undo").out().contains("nothing is recorded"));
        succeed("locked-memory --undo");
        assertFalse(Files.exists(root.resolve("etc/security/limits.d/90-ringpoll-alice.conf")));
    }

    @Test
    void shouldUndoSeveralDifferentCallsToTheFirstState() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with("proc/irq/default_smp_affinity", "ffffffff,ffffffff"));
        final Map<String, String> before = snapshot();
        succeed("move-interrupts --away-from 17 --apply");
        succeed("move-interrupts --away-from 18-19 --apply");
        assertEquals("ffffffff,fff1ffff", content("proc/irq/default_smp_affinity"));
        assertTrue(content("etc/default/irqbalance").endsWith(
            "IRQBALANCE_BANNED_CPUS=000e0000\nIRQBALANCE_BANNED_CPULIST=17-19"), content("etc/default/irqbalance"));
        // Interrupts that had CPU 18 only do not go to CPU 17, which the first call has closed.
        assertEquals("16,20-31,48-63", content("proc/irq/203/smp_affinity_list"));
        succeed("move-interrupts --undo");
        assertEquals(before, snapshot());
    }

    @Test
    void shouldKeepWhatIrqbalanceBansByItself() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with(CPU + "isolated", "40-41").with(CPU + "nohz_full", "(null)")
            .with("etc/default/irqbalance", "IRQBALANCE_BANNED_CPUS=\\\"1,00000000\\\"".replace("\\\"", "\"")));
        succeed("move-interrupts --away-from 17 --apply");
        assertTrue(content("etc/default/irqbalance").endsWith("IRQBALANCE_BANNED_CPUS=00000301,00020000\n"
            + "IRQBALANCE_BANNED_CPULIST=17,32,40-41"), content("etc/default/irqbalance"));
    }

    /** A file that can be read, but not written, not even by root. */
    private void makeUnwritable(final String path) throws IOException {
        Files.delete(root.resolve(path));
        Files.createSymbolicLink(root.resolve(path), Path.of("/proc/sys/kernel/ostype"));
    }

    @Test
    void shouldUndoTheRestAfterAChangeThatFailed() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        final String pages = "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
        makeUnwritable("sys/kernel/mm/transparent_hugepage/enabled");
        assertEquals(1, run("huge-pages", "--pages", "512", "--transparent", "madvise", "--apply").exit());
        assertEquals("512", content(pages));
        succeed("huge-pages --undo");
        assertEquals("0", content(pages));
        assertTrue(succeed("huge-pages --undo").out().contains("nothing is recorded"));
    }

    @Test
    void shouldNameInterruptsThatTheKernelDoesNotMove() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        final Path file = root.resolve("proc/irq/202/smp_affinity_list");
        Files.delete(file);
        // It reads as a CPU that is to be left, and takes no other value.
        Files.createSymbolicLink(file, Path.of("/proc/sys/kernel/ngroups_max"));
        final String value = Files.readAllLines(file).getFirst();
        Files.writeString(root.resolve(CPU + "online"), "0-63," + value + "\n");
        final Outcome outcome = succeed("move-interrupts --away-from " + value + " --apply");
        assertTrue(outcome.err().contains("does not move these interrupts"), outcome::toString);
        assertTrue(outcome.err().endsWith(": 202\n"), outcome::err);
        assertFalse(succeed("move-interrupts --undo").out().contains("/proc/irq/202/"));
    }

    @ParameterizedTest
    @CsvSource({"locked-memory --user alice --service x.service, 7", "move-interrupts --away-from 18, 47",
        "huge-pages --pages 512 --transparent never, 7"})
    void shouldUndoAChangeThatWasInterruptedAtAnyStep(final String line, final int stride) throws Exception {
        final RecordedTree tree = RecordedTree.parse("sys/devices/system/cpu/online\t0-63\netc/default/irqbalance\tX=1\n"
            + "proc/irq/7/smp_affinity_list\t18\nproc/irq/8/smp_affinity_list\t0-63\n"
            + "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages\t0\nsys/kernel/mm/transparent_hugepage/enabled\tmadvise\n");
        expand(tree);
        final Map<String, String> before = snapshot();
        final String[] apply = (line + " --apply").split(" ");
        int step = 1;
        boolean interrupted = true;
        while (interrupted) {
            interrupted = runUntil(step, step % 2 == 0 ? "KILL" : "TERM", apply).exit() > 128;
            if (step % 3 == 0) {
                // Applied again to the end, interrupted while it is undone.
                assertEquals(0, run(apply).exit());
                runUntil(step, "KILL", apply[0], "--undo");
            }
            succeed(apply[0] + " --undo");
            assertEquals(before, snapshot(), "after step " + step);
            step += stride;
        }
        assertTrue(step > 60, "only " + step + " steps");
    }

    @Test
    void shouldMoveInterruptsNearTheirDeviceAndConfigureIrqbalance() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with("proc/irq/default_smp_affinity", "ffffffff,ffffffff"));
        succeed("move-interrupts --away-from 17-21 --apply");
        // Interrupt 202 was sent to CPU 17 only: it stays on the device's node. Interrupt 9 only loses the hot CPUs.
        assertEquals("16,22-31,48-63", content("proc/irq/202/smp_affinity_list"));
        assertEquals("0-16,22-63", content("proc/irq/9/smp_affinity_list"));
        assertEquals("16", content("proc/irq/201/smp_affinity_list"));
        assertEquals("ffffffff,ffc1ffff", content("proc/irq/default_smp_affinity"));
        assertTrue(content("etc/default/irqbalance").endsWith(
            "\nIRQBALANCE_BANNED_CPUS=003e0000\nIRQBALANCE_BANNED_CPULIST=17-21"), content("etc/default/irqbalance"));
        succeed("move-interrupts --undo");
        assertEquals("17", content("proc/irq/202/smp_affinity_list"));
    }

    @Test
    void shouldSendInterruptsToTheGivenCpus() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        succeed("move-interrupts --away-from 17-21 --to 22,23 --apply");
        assertEquals("22-23", content("proc/irq/203/smp_affinity_list"));
    }

    @Test
    void shouldLiftTheFrequencyLimitAndSwitchDeepStatesOff() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with(CPU + "cpu17/cpufreq/scaling_max_freq", "1200000"));
        succeed("cpu-power --cpus 17 --governor performance --max-frequency --max-exit-us 10 --apply");
        assertEquals("performance", content(CPU + "cpu17/cpufreq/scaling_governor"));
        assertEquals("3500000", content(CPU + "cpu17/cpufreq/scaling_max_freq"));
        assertEquals("0", content(CPU + "cpu17/cpuidle/state2/disable"));
        assertEquals("1", content(CPU + "cpu17/cpuidle/state3/disable"));
        assertEquals("powersave", content(CPU + "cpu18/cpufreq/scaling_governor"));
    }

    @Test
    void shouldReportAValueThatTheKernelRejectsAndFail() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        makeUnwritable("sys/kernel/mm/transparent_hugepage/enabled");
        final Outcome outcome = run("huge-pages", "--transparent", "madvise", "--apply");
        assertEquals(1, outcome.exit());
        assertTrue(outcome.err().contains("the kernel does not take 'madvise'"), outcome::err);
    }

    @Test
    void shouldRunACommandOnCpusAndMemory() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        assertTrue(succeed("run-pinned --cpus 16,22-31 -- ./ringpoll run").out()
            .startsWith("would run: taskset -c 16,22-31 ./ringpoll run\nnothing was run"));
        assertEquals("CALLED taskset -c 16,22-31 ./ringpoll run\n", succeed("run-pinned --cpus 16,22-31 --apply -- "
            + "./ringpoll run").out());
        assertEquals("CALLED numactl --membind=1 --physcpubind=16 ./ringpoll run\n",
            succeed("run-pinned --cpus 16 --node 1 --apply -- ./ringpoll run").out());
    }

    @Test
    void shouldHoldTheWakeUpLatencyWhileACommandRuns() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        final Outcome outcome = succeed("run-pinned --latency-us 259 --apply -- od -An -tx1 " + root + "/dev/cpu_dma_latency");
        assertEquals("03 01 00 00", outcome.out().strip());
    }

    @Test
    void shouldMoveTheThreadsOfAProcessThatAreNotPinned() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with("proc/77/task/77/status", "Cpus_allowed_list:\\t0-63")
            .with("proc/77/task/78/status", "Cpus_allowed_list:\\t3").with("proc/77/task/79/status",
                "Cpus_allowed_list:\\t22-23").with("proc/77/task/80/status", "Cpus_allowed_list:\\t3-4"));
        final Outcome outcome = succeed("run-pinned --pid 77 --cpus 22-23 --apply");
        assertTrue(outcome.out().contains("taskset -pc 22-23 77\n"), outcome::out);
        assertTrue(outcome.out().contains("taskset -pc 22-23 80\n"), outcome::out);
        assertTrue(outcome.out().contains("pinned to one CPU, and left there: threads 78\n"), outcome::out);
        assertFalse(outcome.out().contains(" 79\n"), outcome::out);
        final Outcome undone = succeed("run-pinned --undo");
        assertTrue(undone.out().contains("taskset -pc 3-4 80\n"), undone::out);
        assertTrue(undone.out().contains("taskset -pc 0-63 77\n"), undone::out);
    }

    @Test
    void shouldLimitTheLatencyOfSomeCpus() throws Exception {
        final String file = CPU + "cpu17/power/pm_qos_resume_latency_us";
        expand(RecordedTree.named("two-socket-smt").with(file, "0"));
        succeed("cpu-power --cpus 17 --resume-latency-us 2 --apply");
        assertEquals("2", content(file));
        succeed("cpu-power --undo");
        assertEquals("0", content(file));
    }

    @Test
    void shouldAdviseAgainstALatencyThatMakesAllCoresSpin() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        final Outcome outcome = succeed("run-pinned --latency-us 0 --apply -- true");
        assertTrue(outcome.err().contains("prefer 1 or 2, or cpu-power --cpus LIST --resume-latency-us 1"), outcome::err);
        assertEquals("", succeed("run-pinned --latency-us 1 --apply -- true").err());
    }

    @Test
    void shouldRunACommandInTheCallersLocale() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        environment.put("LC_ALL", "C.UTF-8");
        assertEquals("C.UTF-8\n", succeed("run-pinned --latency-us 1 --apply -- printenv LC_ALL").out());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "isolate-cpus|isolate-cpus: --cpus is missing; see --help",
        "isolate-cpus --cpus|isolate-cpus: --cpus needs a value",
        "isolate-cpus --cpus 0-3|isolate-cpus: --cpus 0-3 has the boot CPU",
        "isolate-cpus --cpus 64|isolate-cpus: --cpus: CPU 64 is not",
        "isolate-cpus --cpus 0-63|isolate-cpus: --cpus 0-63 leaves no CPU",
        "move-interrupts --away-from x|move-interrupts: --away-from 'x' is not a list",
        "move-interrupts --away-from 2 --to 2-3|move-interrupts: --to 2-3 and --away-from 2 have CPUs in common",
        "cpu-power --cpus 2|cpu-power: nothing to do",
        "isolate-cpus --apply --undo|isolate-cpus: --apply and --undo exclude each other",
        "move-interrupts --undo --away-from 3 --apply|move-interrupts: --apply and --undo exclude each other",
        "cpu-power --undo --cpus 3|cpu-power: --undo takes back all that cpu-power has changed: give no other option",
        "cpu-power --cpus 2 --resume-latency-us 0|cpu-power: --resume-latency-us 0 means no limit to the kernel",
        "run-pinned --cpus 2 --pid 1 --node 0|run-pinned: --node and --latency-us need a command",
        "record-tree --root /no/such/folder|record-tree: --root /no/such/folder is not a folder",
        "cpu-power --cpus 2 --max-exit-us y|cpu-power: --max-exit-us 'y'",
        "huge-pages --pages many|huge-pages: --pages 'many' is not a number",
        "huge-pages --transparent often|huge-pages: --transparent 'often' is none of",
        "locked-memory|locked-memory: --user or",
        "locked-memory --user a;b|locked-memory: --user 'a;b' is not a name",
        "run-pinned --cpus 2|run-pinned: no command",
        "run-pinned --frob|run-pinned: unknown option '--frob'",
        "record-tree --frob|record-tree: unknown option '--frob'"})
    void shouldReportWrongUsageInOneLine(final String line, final String message) throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        final Map<String, String> before = snapshot();
        final Outcome outcome = run(line.split(" "));
        assertEquals(2, outcome.exit(), outcome::toString);
        assertTrue(outcome.err().startsWith(message), outcome::err);
        assertEquals(1, outcome.err().lines().count(), outcome::err);
        assertEquals(before, snapshot());
    }

    @Test
    void shouldFixTheDoctorsFindingsWithItsCommands() throws Exception {
        // Without the kernel's value the allowed CPUs apply, which a script can change in a tree.
        final RecordedTree tree = RecordedTree.named("two-socket-smt").with("proc/1/comm", "systemd");
        for (int irq = 200; irq <= 216; irq++) {
            tree.without("proc/irq/" + irq + "/effective_affinity_list");
        }
        tree.without("proc/irq/9/effective_affinity_list").without("proc/irq/120/effective_affinity_list");
        expand(tree);
        int copied = 0;
        for (final CheckResult result : examine()) {
            final String command = result.finding().command().replaceAll(" {3}#.*", "").replace("\"$USER\"", "alice");
            if (command.startsWith("sudo tuning/scripts/")) {
                final Outcome outcome = run(command.substring("sudo tuning/scripts/".length()).replace("./ringpoll run",
                    "true").split(" "));
                assertEquals(0, outcome.exit(), () -> command + ": " + outcome);
                copied++;
            }
        }
        assertTrue(copied >= 10, copied + " commands");
        final List<String> fixed = examine().stream().filter(result -> result.finding().verdict() == Verdict.OK)
            .map(result -> result.check().id()).toList();
        assertTrue(fixed.containsAll(List.of("cpu-governor", "c-states", "interrupt-affinity", "irqbalance",
            "transparent-huge-pages",
            "huge-pages")), fixed::toString);
    }

    private List<CheckResult> examine() {
        return Doctor.examine(Examined.of(new MachineFiles(root), Optional.empty(), Jvm.ofThisProcess(), Optional.empty()));
    }

    /** Recorded machines, and some with rare features. */
    static Stream<Named<RecordedTree>> machines() {
        final RecordedTree limited = RecordedTree.named("two-socket-smt").withEach(0, 63, CPU
            + "cpu#/power/pm_qos_resume_latency_us", "5").without("dev/cpu_dma_latency").with("proc/900/comm", "tuned")
            .with("etc/tuned/active_profile", "balanced").with("proc/812/environ", "IRQBALANCE_BANNED_CPULIST=0-63\\x00")
            .with("proc/self/environ", "A=1\\x00MLX5_SINGLE_THREADED=1\\x00MLX5_FREEZE_ON_ERROR_CQE=1\\x00")
            .with("sys/fs/cgroup/user.slice/cpu.max", "400000 100000").with("sys/fs/cgroup/cgroup.type", "domain")
            .with("proc/self/stat", "1 (a (b) c) S" + " 0".repeat(37) + " 1 0 0")
            .without(ADAPTER + "iommu_group/type").with(ADAPTER + "iommu_group/reserved_regions", "0x0 0x1 msi")
            .with("usr/local/lib/librpma.so.1", "").without("usr/lib/x86_64-linux-gnu/librpma.so.0");
        final RecordedTree contained = RecordedTree.named("tuned-server").with("run/.containerenv", "name=\"x\"")
            .without(ADAPTER + "iommu_group").with("sys/kernel/iommu_groups/0/type", "DMA")
            .without(ADAPTER + "link").with("sys/module/pcie_aspm/parameters/policy", "default [performance] powersave")
            .with("proc/device-tree/hypervisor/compatible", "x")
            .with("proc/cpuinfo", "flags\\t\\t: fpu bus_lock_detect").with("proc/sys/kernel/split_lock_mitigate", "0");
        final RecordedTree software = RecordedTree.named("tuned-server").without("sys/class/infiniband")
            .with("sys/class/infiniband/rxe0/parent", "eth0").with("sys/class/infiniband/rxe0/ports/1/state", "4: ACTIVE")
            .with("sys/class/infiniband/rxe0/ports/1/link_layer", "Ethernet")
            .with("sys/class/net/eth0/queues/tx-0/xps_cpus", "f").with("sys/class/net/eth0/queues/tx-1/xps_cpus", "f0")
            .with("sys/class/net/eth0/napi_defer_hard_irqs", "2").with("sys/class/net/eth0/gro_flush_timeout", "200000")
            .with("proc/self/environ", "KUBERNETES_SERVICE_HOST=10.9.8.7\\x00MLX5_SHUT_UP_BF=1\\x00"
                + "RDMAV_FORK_SAFE=1\\x00IBV_FORK_SAFE=1\\x00RDMAV_HUGEPAGES_SAFE=1\\x00");
        return Stream.concat(Stream.of("arm-server", "container-cgroup-v1", "container-cgroup-v2", "epyc-many-l3",
            "machine-at-hand", "tuned-server", "two-socket-smt").map(name -> Named.of(name, RecordedTree.named(name))),
            Stream.of(Named.of("limited", limited), Named.of("contained", contained), Named.of("software", software),
                Named.of("grubby", RecordedTree.named("two-socket-smt").with("usr/sbin/grubby", "")),
                Named.of("device tree", RecordedTree.named("two-socket-smt").with("sys/firmware/devicetree/base/model", "x")),
                Named.of("nspawn", RecordedTree.named("tuned-server").with("run/systemd/container", "systemd-nspawn")),
                Named.of("declared", RecordedTree.named("tuned-server").with("proc/1/environ", "container=podman\\x00")),
                Named.of("grouped", RecordedTree.named("tuned-server").with("proc/1/cgroup", "0::/docker/1"))));
    }

    @ParameterizedTest
    @MethodSource("machines")
    void shouldRecordATreeThatReadsAsTheMachineItIs(final RecordedTree tree) throws Exception {
        expand(tree);
        final Set<String> read = new TreeSet<>();
        final MachineFiles original = new MachineFiles(root) {
            @Override
            protected byte[] bytes(final Path file) throws IOException {
                final byte[] bytes = super.bytes(file);
                read.add(root.relativize(file).toString());
                return bytes;
            }
        };
        final Outcome outcome = succeed("record-tree");
        final MachineFiles files = RecordedTree.parse(outcome.out()).expand(Files.createDirectory(folder.resolve("copy")));
        assertEquals(Topology.read(original), Topology.read(files));
        assertEquals(Surroundings.read(original), Surroundings.read(files));
        assertEquals(findings(original), findings(files));
        outcome.out().lines().forEach(line -> read.remove(line.substring(0, line.indexOf('\t'))));
        assertEquals(Set.of(), read, "read and not recorded");
    }

    @Test
    void shouldLeaveSecretsOutOfARecording() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with("proc/1/environ", "TOKEN=secret\\x00").with("proc/self/environ",
            "PASSWORD=secret\\ncontainer=secret\\x00container=lxc\\x00KUBERNETES_SERVICE_HOST=secret\\x00KEY=secret\\x00")
            .with("proc/812/environ", "KEY=secret\\x00IRQBALANCE_BANNED_CPUS=f\\x00").with("run/.containerenv", "id=secret"));
        final String recorded = succeed("record-tree").out();
        assertFalse(recorded.contains("secret"), recorded);
        assertTrue(recorded.contains("container=lxc\\x00KUBERNETES_SERVICE_HOST=\\x00"), recorded);
        assertTrue(recorded.contains("IRQBALANCE_BANNED_CPUS=f\\x00"), recorded);
    }

    private static Map<String, Finding> findings(final MachineFiles files) {
        return Doctor.examine(Examined.of(files, Optional.empty(), Jvm.ofThisProcess(), Optional.empty())).stream()
            .collect(Collectors.toMap(result -> result.check().id(), CheckResult::finding));
    }

    @Test
    void shouldPassShellcheck() throws Exception {
        Assumptions.assumeTrue(Stream.of(System.getenv("PATH").split(":")).anyMatch(path -> Files.isExecutable(Path.of(path,
            "shellcheck"))),
            "needs shellcheck");
        final List<String> command = new ArrayList<>(List.of("shellcheck", "-x"));
        try (Stream<Path> scripts = Files.list(SCRIPTS)) {
            scripts.map(Path::toString).forEach(command::add);
        }
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).directory(SCRIPTS.getParent()
            .getParent().toFile())
            .start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
    }
}
