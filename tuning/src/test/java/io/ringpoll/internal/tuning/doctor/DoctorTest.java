package io.ringpoll.internal.tuning.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.tuning.RecordedTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class DoctorTest {
    @TempDir
    private Path root;

    static Stream<DoctorCase> cases() {
        return DoctorCases.all();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void shouldReportTheExpectedFinding(final DoctorCase expected) {
        final Finding finding = expected.examine(root);
        assertEquals(expected.verdict(), finding.verdict(), finding::toString);
        assertTrue(finding.reading().contains(expected.reading()), finding::toString);
        assertTrue(finding.command().contains(expected.command()), finding::toString);
        final boolean wantsAction = finding.verdict() == Verdict.WARNING || finding.verdict() == Verdict.BAD;
        assertTrue(!wantsAction || !finding.command().isEmpty(), "no command: " + finding);
        assertTrue(finding.verdict() != Verdict.OK || finding.command().isEmpty(), "a command for an ok result: " + finding);
    }

    @Test
    void shouldHaveATestForEachResultOfEachCheck() {
        final Map<String, Set<Verdict>> tested = new HashMap<>();
        DoctorCases.all().forEach(expected ->
            tested.computeIfAbsent(expected.id(), id -> EnumSet.noneOf(Verdict.class)).add(expected.verdict()));
        for (final Check check : Doctor.checks()) {
            assertEquals(check.verdicts(), tested.get(check.id()), check.id());
        }
    }

    @Test
    void shouldStateTheReasonInOneSentenceAndHaveStableNames() {
        final Set<String> ids = new HashSet<>();
        for (final Check check : Doctor.checks()) {
            assertTrue(check.id().matches("[a-z0-9]+(-[a-z]+)*"), check.id());
            assertTrue(ids.add(check.id()), check.id());
            assertTrue(check.why().matches("[A-Z].*\\."), check.why());
            assertFalse(check.subject().isBlank(), check.id());
        }
        assertTrue(ids.size() >= 25, () -> ids.size() + " checks");
    }

    @Test
    void shouldNameTheSourceOfEachCheckInTheDocumentation() throws IOException {
        final String page = Files.readString(Path.of("..", "docs", "operations", "doctor.md"));
        final Set<String> links = Pattern.compile("(?m)^(\\[.+]): https://\\S+$").matcher(page).results()
            .map(link -> link.group(1)).collect(Collectors.toSet());
        final Map<String, String> rows = new TreeMap<>();
        Pattern.compile("(?m)^\\| `([a-z0-9-]+)` \\| [^|]+ \\| ([^|]+) \\|$").matcher(page).results().forEach(row -> {
            assertNull(rows.put(row.group(1), row.group(2)), "two rows: " + row.group(1));
            for (final String source : row.group(2).split(", (?=\\[)")) {
                assertTrue(links.contains(source), row.group(1) + ": no link to " + source);
            }
        });
        assertEquals(new TreeSet<>(Doctor.checks().stream().map(Check::id).toList()), rows.keySet());
    }

    @Test
    void shouldFindNothingOnATunedServer() {
        final Examined machine = Examined.of(RecordedTree.named("tuned-server").expand(root), Optional.empty(),
            DoctorCase.GOOD_JVM,
            DoctorCase.GOOD_VERBS);
        assertEquals(CpuSet.range(2, 6), machine.hot());
        final List<CheckResult> results = Doctor.examine(machine);
        assertEquals(List.of(), results.stream().filter(result -> result.finding().verdict() != Verdict.OK).toList());
        assertEquals(Verdict.OK, Doctor.worst(results));
    }

    @Test
    void shouldReportEachUntunedSettingOfATwoSocketServer() {
        final Examined machine = Examined.of(RecordedTree.named("two-socket-smt").expand(root), Optional.empty(),
            DoctorCase.GOOD_JVM, DoctorCase.GOOD_VERBS);
        assertEquals(List.of("isolation", "smt", "timer-tick", "rcu-callbacks", "timer-migration", "interrupt-affinity",
            "irqbalance", "watchdog", "workqueues", "kernel-threads", "vm-statistics", "cpu-governor", "energy-preference",
            "turbo", "c-states", "locked-memory", "swap", "numa-balancing", "transparent-huge-pages", "compaction", "iommu",
            "pcie-aspm", "pcie-read-request"), ids(Doctor.examine(machine), Verdict.WARNING));
        assertEquals(List.of(), ids(Doctor.examine(machine), Verdict.BAD));
    }

    @Test
    void shouldRankFindingsByVerdictThenByEffect() {
        final Examined machine = Examined.of(RecordedTree.named("two-socket-smt")
            .with("proc/self/limits", "Max locked memory 1 1 b").expand(root), Optional.empty(),
            DoctorCase.GOOD_JVM, DoctorCase.GOOD_VERBS);
        final List<CheckResult> ranked = Doctor.byValue(Doctor.examine(machine));
        assertEquals("locked-memory", ranked.getFirst().check().id());
        assertEquals("isolation", ranked.get(1).check().id());
        final List<Effect> effects = ranked.stream().skip(1).map(result -> result.check().effect()).toList();
        assertEquals(effects.stream().sorted().toList(), effects);
    }

    @Test
    void shouldReportTheQuotaAndTheLockLimitOfAContainerAsBad() {
        final Examined machine = Examined.of(RecordedTree.named("container-cgroup-v2").expand(root), Optional.empty(),
            DoctorCase.GOOD_JVM, Optional.empty());
        assertEquals(List.of("cpu-quota", "locked-memory"), ids(Doctor.examine(machine), Verdict.BAD));
    }

    /** The trees: SMT and two nodes with RoCE; SMT and one node with InfiniBand; four nodes without SMT. */
    @ParameterizedTest
    @ValueSource(strings = {"two-socket-smt", "epyc-many-l3", "arm-server"})
    void shouldFindNothingAfterAllAdviceWasFollowed(final String name) throws Exception {
        final RecordedTree tree = RecordedTree.named(name)
            .with("etc/default/grub", "GRUB_CMDLINE_LINUX=\"\"")
            .with("usr/lib/aarch64-linux-gnu/librpma.so.0", "").with("etc/libibverbs.d/mlx5.driver", "driver mlx5");
        final MachineFiles files = tree.expand(root);
        final FollowedAdvice advice = new FollowedAdvice(root, files);
        final CpuSet hot = examine(files, advice).hot();
        for (final CheckResult finding : Doctor.byValue(Doctor.examine(examine(files, advice)))) {
            advice.follow(finding.finding().command());
        }
        advice.reboot();
        advice.settle();
        final Examined after = examine(files, advice);
        assertEquals(hot, after.hot(), "the plan moved to other CPUs");
        assertEquals(List.of(), Doctor.byValue(Doctor.examine(after)));
    }

    private static Examined examine(final MachineFiles files, final FollowedAdvice advice) {
        return Examined.of(files, Optional.empty(), advice.jvm(), DoctorCase.GOOD_VERBS);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        ".dockerenv||docker run --ulimit memlock=-1|docker run --cpuset-cpus LIST, without --cpus",
        "run/.containerenv||podman run --ulimit memlock=-1|podman run --cpuset-cpus LIST",
        "proc/1/environ|container=systemd-nspawn|LimitMEMLOCK=infinity in the container's unit|CPUQuota= (empty)",
        "run/systemd/container|lxc|the container's manager: the equivalent of LimitMEMLOCK=infinity|the container's manager",
        "proc/1/cgroup|0::/kubepods/pod1|add IPC_LOCK to|cpuManagerPolicy: static of the kubelet"})
    void shouldNameTheOptionsOfTheContainerAndSendTheRestToTheHost(final String file, final String content,
                                                                   final String memory, final String quota) {
        final Examined machine = Examined.of(RecordedTree.named("container-cgroup-v2").without(".dockerenv")
            .with(file, content == null ? "" : content).expand(root), Optional.empty(), DoctorCase.GOOD_JVM, Optional.empty());
        final List<CheckResult> results = Doctor.examine(machine);
        assertTrue(command(results, "locked-memory").startsWith(memory), command(results, "locked-memory"));
        assertTrue(command(results, "cpu-quota").startsWith(quota), command(results, "cpu-quota"));
        for (final CheckResult result : results) {
            final String command = result.finding().command();
            assertTrue(result.check().scope() != Scope.MACHINE || command.isEmpty() || command.startsWith("on the host: ")
                || command.contains("./ringpoll"), result.check().id() + ": " + command);
            assertFalse(result.check().scope() != Scope.MACHINE && command.startsWith("on the host"), command);
        }
    }

    @Test
    void shouldNameTheSettingsOfTheUnitOfAService() {
        final Examined machine = Examined.of(RecordedTree.named("two-socket-smt").with("proc/self/limits",
            "Max locked memory 65536 65536 bytes").with("proc/self/cgroup", "0::/system.slice/trading.service").expand(root),
            Optional.empty(), DoctorCase.GOOD_JVM, DoctorCase.GOOD_VERBS);
        final List<CheckResult> results = Doctor.examine(machine);
        assertEquals("LimitMEMLOCK=infinity in the unit: sudo systemctl edit trading.service", command(results, "locked-memory"));
        assertTrue(command(results, "isolation").startsWith("sudo tuning/scripts/isolate-cpus"), command(results, "isolation"));
    }

    private static String command(final List<CheckResult> results, final String id) {
        return results.stream().filter(result -> result.check().id().equals(id)).findFirst().orElseThrow().finding().command();
    }

    private static List<String> ids(final List<CheckResult> results, final Verdict verdict) {
        return results.stream().filter(result -> result.finding().verdict() == verdict).map(result -> result.check().id())
            .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"epyc-many-l3", "arm-server", "container-cgroup-v1", "machine-at-hand"})
    void shouldExamineAnyRecordedMachine(final String name) {
        final Examined machine = Examined.of(RecordedTree.named(name).expand(root), Optional.empty(), DoctorCase.GOOD_JVM,
            Optional.empty());
        assertEquals(Doctor.checks().size(), Doctor.examine(machine).size());
    }

    @Test
    void shouldExamineThisMachine() {
        final List<CheckResult> results = Doctor.examine(Examined.of(MachineFiles.ofThisMachine(), Optional.empty(),
            Jvm.ofThisProcess(), Optional.empty()));
        assertEquals(Doctor.checks().size(), results.size());
        assertEquals(Verdict.OK, results.getFirst().finding().verdict(), "the tests run on JDK 25 or newer");
    }

    @Test
    void shouldExamineAMachineWithHardlyAnyFiles() {
        final Examined machine = Examined.of(RecordedTree.parse("proc/stat\tcpu0 1 2 3\n").expand(root), Optional.empty(),
            DoctorCase.GOOD_JVM, Optional.empty());
        assertEquals(Doctor.checks().size(), Doctor.examine(machine).size());
    }
}
