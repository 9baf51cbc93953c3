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
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The scripts for production machines, on recorded trees only: with a root other than / they run no command. */
@Timeout(120)
class ScriptsTest {
    private static final Path SCRIPTS = Path.of("scripts").toAbsolutePath();
    private static final String UNDO = "var/lib/ringpoll/undo/";
    private static final String CPU = "sys/devices/system/cpu/";
    /** The checks whose files record-tree leaves out: they are unknown in a recording. */
    private static final Set<String> NOT_RECORDED = Set.of("workqueues", "kernel-threads", "receive-steering", "rt-throttling",
        "compaction", "page-merging", "verbs-environment", "iommu", "pcie-aspm", "pcie-read-request", "pcie-relaxed-ordering",
        "roce-loss", "roce-priority");

    @TempDir
    private Path folder;

    private Path root;
    private Path fakes;

    /** The result of a script. */
    private record Outcome(int exit, String out, String err) {
    }

    @BeforeEach
    void makeFakeCommands() throws IOException {
        root = Files.createDirectory(folder.resolve("root"));
        fakes = Files.createDirectory(folder.resolve("bin"));
        // Commands that could affect this machine are replaced by stubs that record the call.
        for (final String name : List.of("taskset", "numactl", "systemctl", "update-grub", "grubby", "setpriv", "sysctl")) {
            final Path fake = fakes.resolve(name);
            Files.writeString(fake, "#!/bin/sh\necho \"CALLED " + name + " $*\"\n");
            Files.setPosixFilePermissions(fake, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    private void expand(final RecordedTree tree) {
        tree.expand(root);
    }

    private Outcome run(final String... arguments) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(arguments));
        command.set(0, SCRIPTS.resolve(arguments[0]).toString());
        final ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("ROOT", root.toString());
        builder.environment().put("PATH", fakes + ":" + System.getenv("PATH"));
        final Path out = folder.resolve("out");
        final Path err = folder.resolve("err");
        final Process process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
        process.getOutputStream().close();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), "did not end: " + command);
        return new Outcome(process.exitValue(), Files.readString(out), Files.readString(err));
    }

    private Outcome succeed(final String line) throws IOException, InterruptedException {
        final Outcome outcome = run(line.split(" "));
        assertEquals(0, outcome.exit(), () -> line + ": " + outcome);
        return outcome;
    }

    private Map<String, String> snapshot() throws IOException {
        final Map<String, String> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (final Path file : all.filter(path -> Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)).toList()) {
                final String content = Files.readString(file, StandardCharsets.ISO_8859_1).stripTrailing();
                // The kernel would list all choices, the selected one in brackets.
                files.put(root.relativize(file).toString(), file.endsWith("transparent_hugepage/enabled")
                    ? content.replaceAll(".*\\[(.*)].*", "$1") : content);
            }
        }
        return files;
    }

    private String content(final String path) throws IOException {
        return Files.readString(root.resolve(path)).strip();
    }

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
        assertTrue(applied.containsKey(UNDO + script));
        assertFalse(without(applied, UNDO + script).equals(before), "--apply changed nothing");

        final Outcome again = succeed(line + " --apply");
        assertFalse(again.out().contains("set /"), again::out);
        assertEquals(applied, snapshot(), "applying twice is not the same as once");

        succeed(script + " --undo");
        assertEquals(before, snapshot(), "--undo does not restore the previous state");
        assertTrue(succeed(script + " --undo").out().contains("nothing is recorded"));
    }

    private static Map<String, String> without(final Map<String, String> files, final String path) {
        final Map<String, String> rest = new TreeMap<>(files);
        rest.remove(path);
        return rest;
    }

    @Test
    void shouldIsolateCpusThroughTheBootLoaderSettings() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with("usr/sbin/update-grub", ""));
        Files.setPosixFilePermissions(root.resolve("usr/sbin/update-grub"), PosixFilePermissions.fromString("rwxr-xr-x"));
        final String options = "isolcpus=managed_irq,domain,17-18,49-50 nohz_full=17-18,49-50 rcu_nocbs=17-18,49-50 "
            + "irqaffinity=0-16,19-48,51-63";
        final Outcome outcome = succeed("isolate-cpus --cpus 17,18,49-50 --apply");
        assertTrue(content("etc/default/grub").endsWith("GRUB_CMDLINE_LINUX=\"" + options + "\""), content("etc/default/grub"));
        assertTrue(outcome.out().contains("not run below " + root + ": update-grub"), outcome::out);
        final Outcome undone = succeed("isolate-cpus --undo");
        assertTrue(undone.out().indexOf("restored /etc/default/grub") < undone.out().indexOf("update-grub"), undone::out);
    }

    @Test
    void shouldPreferADropInToEditingTheBootLoaderSettings() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with("etc/default/grub.d/init-select.cfg", ""));
        succeed("isolate-cpus --cpus 17 --apply");
        assertTrue(content("etc/default/grub.d/ringpoll.cfg").startsWith(
            "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX isolcpus=managed_irq,domain,17 nohz_full=17"));
        succeed("isolate-cpus --undo");
        assertFalse(Files.exists(root.resolve("etc/default/grub.d/ringpoll.cfg")));
    }

    @Test
    void shouldKeepExistingOptions() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with("etc/default/grub",
            "GRUB_CMDLINE_LINUX=\"crashkernel=auto\"\\nGRUB_X=1"));
        succeed("isolate-cpus --cpus 17 --apply");
        assertTrue(content("etc/default/grub").startsWith("GRUB_CMDLINE_LINUX=\"crashkernel=auto isolcpus="),
            content("etc/default/grub"));
        assertTrue(content("etc/default/grub").endsWith("\nGRUB_X=1"));
    }

    @Test
    void shouldNotIsolateTwice() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with("etc/default/grub", "GRUB_CMDLINE_LINUX=\"isolcpus=4\""));
        final Outcome outcome = run("isolate-cpus", "--cpus", "17");
        assertEquals(1, outcome.exit());
        assertTrue(outcome.err().contains("/etc/default/grub isolates CPUs already"), outcome::err);
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
        assertEquals("IRQBALANCE_ARGS=\nIRQBALANCE_BANNED_CPULIST=17-21", content("etc/default/irqbalance"));
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
        expand(RecordedTree.named("two-socket-smt").without("sys/kernel/mm/transparent_hugepage/enabled"));
        // A file that can be read, but not written, not even by root.
        Files.createSymbolicLink(root.resolve("sys/kernel/mm/transparent_hugepage/enabled"), Path.of("/proc/sys/kernel/ostype"));
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
    void shouldMoveTheThreadsOfAProcess() throws Exception {
        expand(RecordedTree.named("two-socket-smt").with("proc/77/task/77/status", "Cpus_allowed_list:\\t0-63")
            .with("proc/77/task/78/status", "Cpus_allowed_list:\\t3").with("proc/77/task/79/status",
                "Cpus_allowed_list:\\t22-23"));
        final Outcome outcome = succeed("run-pinned --pid 77 --cpus 22-23 --apply");
        assertTrue(outcome.out().contains("taskset -pc 22-23 77\n"), outcome::out);
        assertTrue(outcome.out().contains("taskset -pc 22-23 78\n"), outcome::out);
        assertFalse(outcome.out().contains(" 79\n"), outcome::out);
        final Outcome undone = succeed("run-pinned --undo");
        assertTrue(undone.out().contains("taskset -pc 3 78\n"), undone::out);
        assertTrue(undone.out().contains("taskset -pc 0-63 77\n"), undone::out);
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

    @Test
    void shouldRecordATreeThatReadsAsTheMachineItIs() throws Exception {
        expand(RecordedTree.named("two-socket-smt"));
        final Map<String, String> recorded = new TreeMap<>();
        final Outcome outcome = succeed("record-tree");
        final Path copy = Files.createDirectory(folder.resolve("copy"));
        final MachineFiles files = RecordedTree.parse(outcome.out()).expand(copy);
        outcome.out().lines().forEach(line -> recorded.put(line.substring(0, line.indexOf('\t')), ""));
        assertEquals(io.ringpoll.internal.tuning.topology.Topology.read(new MachineFiles(root)),
            io.ringpoll.internal.tuning.topology.Topology.read(files));
        assertTrue(recorded.containsKey("dev/cpu_dma_latency"));
        final Map<String, Finding> seen = findings(files);
        findings(new MachineFiles(root)).forEach((id, finding) -> {
            if (NOT_RECORDED.contains(id)) {
                assertEquals(Verdict.UNKNOWN, seen.get(id).verdict(), id);
            } else {
                assertEquals(finding.reading(), seen.get(id).reading(), id);
            }
        });
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
