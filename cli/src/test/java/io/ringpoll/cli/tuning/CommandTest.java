package io.ringpoll.cli.tuning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.ringpoll.cli.Ringpoll;
import io.ringpoll.cli.options.CommandCalls;
import io.ringpoll.os.ThreadAffinity;
import io.ringpoll.tuning.RecordedTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
class CommandTest {
    @TempDir
    private Path root;

    private final CommandCalls calls = new CommandCalls(Ringpoll::commandLine);

    private String tree(final String name) {
        RecordedTree.named(name).expand(root);
        return root.toString();
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldPrintARecordedMachineWithAnyValuesInPrintableLines() {
        RecordedTree.named("two-socket-smt").with("proc/sys/kernel/osrelease", "6\\x1b[2J")
            .with("sys/kernel/mm/transparent_hugepage/defrag", "[" + "x".repeat(1 << 20))
            .with("proc/swaps", "a\\x1b[31m b 1 1 1").with("sys/class/infiniband/mlx5_0/ports/1/state", "4: \\x1b[31m")
            .withEach(0, 63, "sys/devices/system/cpu/cpu#/cpufreq/scaling_governor", "\\x07" + "y".repeat(100_000))
            .expand(root);
        for (final String[] command : new String[][] {{"doctor", "--verbose"}, {"tune", "plan"}}) {
            final List<String> words = new ArrayList<>(List.of(command));
            words.addAll(List.of("--root", root.toString()));
            assertEquals(0, calls.execute(words.toArray(String[]::new)), calls::err);
            assertEquals(List.of(), calls.out().lines().filter(line -> line.length() > 3000 || line.chars()
                .anyMatch(Character::isISOControl)).map(line -> line.substring(0, Math.min(line.length(), 100))).toList());
        }
    }

    @Test
    void shouldPrintTheMostValuableFindingsOfTheDoctorWithTheirCommands() {
        assertEquals(0, calls.execute("doctor", "--root", tree("two-socket-smt")));
        final String text = calls.out();
        assertTrue(text.contains("hot CPUs: 17-21"), text);
        assertTrue(text.contains("warning      isolated CPUs: hot CPUs 17-21: no CPU is isolated\n"), text);
        assertTrue(text.contains("The scheduler puts other threads on a CPU"), text);
        assertTrue(text.contains("-> sudo tuning/scripts/isolate-cpus --cpus 17-21,49-53 --apply   # then reboot"), text);
        assertFalse(text.contains("System.nanoTime reads it"), "only findings are explained");
        assertTrue(text.lines().anyMatch(line -> line.matches("\\d+ more, of less effect: .*numa-balancing.*")), text);
        assertEquals("", calls.err());
    }

    @Test
    void shouldPrintEachResultOfTheDoctorWithVerbose() {
        assertEquals(0, calls.execute("doctor", "--verbose", "--root", tree("tuned-server")));
        assertTrue(calls.out().contains("System.nanoTime reads it"), calls::out);
    }

    @ParameterizedTest
    @CsvSource({"two-socket-smt, 3", "container-cgroup-v2, 4"})
    void shouldExitWithTheWorstResultWhenStrict(final String tree, final int exit) {
        assertEquals(exit, calls.execute("doctor", "--strict", "--root", tree(tree)));
    }

    @Test
    void shouldPrintTheDoctorsResultsAsOneJsonObject() throws IOException {
        assertEquals(0, calls.execute("doctor", "--json", "--root", tree("container-cgroup-v2")));
        final JsonNode json = calls.json();
        assertEquals("bad", json.get("worst").asText());
        assertEquals(16, json.get("machine").get("cpus").asInt());
        int counted = 0;
        for (final JsonNode count : json.get("counts")) {
            counted += count.asInt();
        }
        final Set<String> ids = new HashSet<>();
        for (final JsonNode check : json.get("checks")) {
            ids.add(check.get("id").asText());
            for (final String key : Set.of("subject", "result", "effect", "reading", "why", "command")) {
                assertTrue(check.get(key).isTextual(), check.toString());
            }
        }
        assertEquals(counted, ids.size());
        assertTrue(ids.contains("cpu-quota"));
    }

    @Test
    void shouldExamineThisMachine() {
        assertEquals(0, calls.execute("doctor"), calls::err);
        assertTrue(calls.out().contains("checks: "), calls::out);
    }

    @Test
    void shouldPrintThePlanAsOptionsAndSettings() {
        assertEquals(0, calls.execute("tune", "plan", "--root", tree("two-socket-smt")));
        final String text = calls.out();
        final String command = "./ringpoll run --pin poller=17,send-write=18,receive=19,error=20,client=21 --wait busy-spin";
        assertTrue(text.contains("    " + command + "\n"), text);
        assertTrue(text.contains("taskset -c 16,22-31,48,54-63 " + command), text);
        assertTrue(text.contains("numactl --physcpubind=16,22-31,48,54-63 --membind=1 " + command), text);
        assertTrue(text.contains("CPUAffinity=16,22-31,48,54-63"), text);
        assertTrue(text.contains(".pollerCpu(17)"), text);
        assertTrue(text.contains(".on(EnumSet.of(RECEIVE), handler, options -> options.cpu(19))"), text);
        assertTrue(text.contains("leave idle (SMT siblings of pinned threads): CPUs 49-53"), text);
    }

    @Test
    void shouldPlanOtherThreadsOnOtherCpus() throws IOException {
        assertEquals(0, calls.execute("tune", "plan", "--json", "--root", tree("arm-server"), "--cpus", "70-75",
            "--pollers", "p1,p2", "--handlers", "journal", "--applications", ""));
        final JsonNode json = calls.json();
        assertEquals("p1=71,p2=72,journal=73", json.get("pin").asText());
        assertEquals("mlx5_0", json.get("device").asText());
        assertEquals("busy-spin", json.get("threads").get(2).get("wait").asText());
        assertEquals(3, json.get("threads").size());
    }

    @Test
    void shouldPlanThisMachine() {
        assertEquals(0, calls.execute("tune", "plan"), calls::err);
        assertTrue(calls.out().contains("./ringpoll run --pin "), calls::out);
    }

    @Test
    void shouldMeasureJitterAndPlotIt() throws IOException {
        final String cpu = Integer.toString(ThreadAffinity.get().nextSetBit(0));
        final Path svg = root.resolve("jitter.svg");
        assertEquals(0, calls.execute("tune", "jitter", "--cpus", cpu, "--seconds", "0.3", "--plot", svg.toString()), calls::err);
        assertTrue(calls.out().contains("CPU " + cpu + ": gaps by length"), calls::out);
        assertTrue(Files.readString(svg).contains("<svg"));
        final Path png = root.resolve("jitter.png");
        assertEquals(0,
            calls.execute("tune", "jitter", "--cpus", cpu, "--seconds", "0.2", "--no-c", "--json", "--plot", png.toString()));
        final JsonNode json = calls.json();
        assertTrue(json.get("cpus").get(0).get("java").get("spins").asLong() > 0);
        assertFalse(json.get("cpus").get(0).has("c"));
        assertTrue(Files.size(png) > 1000);
    }

    @Test
    void shouldCreateTheFolderOfARequestedPlot() {
        final Path svg = root.resolve("new").resolve("folder").resolve("jitter.svg");
        final String cpu = Integer.toString(ThreadAffinity.get().nextSetBit(0));
        assertEquals(0, calls.execute("tune", "jitter", "--cpus", cpu, "--seconds", "0.1", "--no-c", "--plot", svg.toString()));
        assertTrue(Files.exists(svg));
    }

    @Test
    void shouldRefuseAPlotThatCannotBeWrittenBeforeItMeasures() throws IOException {
        final Path file = Files.writeString(root.resolve("file"), "content");
        assertEquals(2, calls.execute("tune", "jitter", "--plot", file + "/jitter.svg"));
        assertEquals("ringpoll tune jitter: --plot " + file + "/jitter.svg: " + file + " is not a folder; name another place\n",
            calls.err());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "doctor --foo|ringpoll doctor: Unknown option: '--foo'",
        "doctor --cpus 1-|ringpoll doctor: --cpus: CPU list '1-': '' is not a CPU number (like 0-3,8)",
        "doctor --cpus 9999|ringpoll doctor: --cpus: CPU 9999 is not online",
        "doctor --root /no/such/folder|ringpoll doctor: --root '/no/such/folder' is not a folder",
        "tune|ringpoll tune: no command: use one of plan, jitter, verify",
        "tune foo|ringpoll tune: no command 'foo': use one of plan, jitter, verify",
        "tune jiter --help|ringpoll tune: no command 'jiter': use one of plan, jitter, verify",
        "tune --help jiter|ringpoll tune: no command 'jiter': use one of plan, jitter, verify",
        "tune plam --json|ringpoll tune: no command 'plam': use one of plan, jitter, verify",
        "replicate foo|ringpoll replicate: no command 'foo': the only one is verify; see './ringpoll replicate --help'",
        "tune --foo|ringpoll tune: Unknown option: '--foo'; see './ringpoll tune --help'",
        "tune plan --device nope|ringpoll tune plan: --device: no RDMA device 'nope'; there ",
        "tune plan --cpus 9999|ringpoll tune plan: CPU 9999 cannot be used",
        "tune plan --handlers poller|ringpoll tune plan: two threads are named 'poller'",
        "tune jitter --seconds 0|ringpoll tune jitter: --seconds 0.0 is not from 0.1",
        "tune jitter --plot x.gif|ringpoll tune jitter: --plot 'x.gif' ends neither in .svg nor in .png",
        "tune jitter --cpus 9999|ringpoll tune jitter: --cpus: CPU 9999 cannot be used"})
    void shouldReportWrongUsageInOneLine(final String arguments, final String message) {
        assertEquals(2, calls.execute(arguments.split(" ")));
        assertTrue(calls.err().startsWith(message), calls::err);
        assertEquals(1, calls.err().lines().count(), calls::err);
        assertEquals("", calls.out());
    }

    @Test
    void shouldFailInOneLineWhereTheTreeIsNoMachine() {
        assertEquals(1, calls.execute("doctor", "--root", root.toString()));
        assertTrue(calls.err().startsWith("ringpoll doctor: no CPU found: "), calls::err);
        assertEquals(1, calls.err().lines().count());
    }
}
