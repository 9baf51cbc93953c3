package io.ringpoll.cli.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.ringpoll.cli.Ringpoll;
import io.ringpoll.cli.options.ChildCommand;
import io.ringpoll.cli.options.CommandCalls;
import io.ringpoll.device.Device;
import io.ringpoll.internal.tuning.plan.AffinityPlan;
import io.ringpoll.internal.tuning.plan.PlanRequest;
import io.ringpoll.internal.tuning.plan.PlanSettings;
import io.ringpoll.internal.tuning.plan.ThreadRole;
import io.ringpoll.internal.tuning.topology.Topology;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LogLevel;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RpmaLog;
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.LoopbackCases;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class RunCommandTest {
    private static final String ADDRESS = TestDevice.address();

    /** The command disables the log of librpma for the whole process. */
    private final LogLevel logThreshold = RpmaLog.threshold();
    private final CommandCalls calls = CommandCalls.of(RunCommand::new);

    @AfterEach
    void restoreLog() {
        RpmaLog.threshold(logThreshold);
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldCompleteEveryWorkRequestOnItsPath() throws IOException {
        final String mix = "write=40,send=30,read=20,write-imm=9,fail=1";
        assertEquals(0, execute("--seconds", "2", "--warm-up", "0", "--json", "--mix", mix), calls::err);
        final JsonNode report = calls.json();
        for (final String path : List.of("sendWrite", "receive", "error")) {
            final JsonNode account = report.get("paths").get(path);
            assertTrue(account.get("posted").asLong() > 0, path);
            assertEquals(account.get("posted").asLong(), account.get("completed").asLong(), path);
        }
        assertEquals(0, report.get("lost").asLong());
        assertEquals(0, report.get("duplicated").asLong());
        assertEquals(0, report.get("corrupted").asLong());
        assertTrue(report.get("latencyNs").get("p99.9").asLong() >= report.get("latencyNs").get("p50").asLong());
        assertTrue(report.get("completionsPerSecond").asLong() > 0);
        assertTrue(report.get("allocatedBytes").has("poller") && report.get("allocatedBytes").has("handlers"));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "seed=3,status:retry-exc-err@~2000,status:loc-prot-err:recv@~3000,disconnect@~5000",
        "full:3@~300,poll:2@~5000,delay:200us@~1500,reorder:5@~1000",
        "status:rem-access-err:write@500+500#1,disconnect@700#2,poll@1000+1000#4",
        "call:rdma_connect:ENOMEM@3,call:rdma_accept:EIO@3,call:ibv_reg_mr:EIO@20+9,disconnect@900",
        "call:ibv_reg_mr:EIO@26+12,disconnect@900",
    })
    void shouldAccountForEveryWorkRequestUnderAFaultPlan(final String plan) throws IOException {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device takes a fault plan");
        assertEquals(0, execute("--operations", "20000", "--json", "--faults", plan), calls::err);
        final JsonNode report = calls.json();
        for (final JsonNode account : report.get("paths")) {
            assertEquals(account.get("posted").asLong(), account.get("completed").asLong(), calls::out);
        }
        assertTrue(report.get("faults").get("injected").asLong() > 0, calls::out);
        assertEquals(plan, report.get("faults").get("plan").asText());
        assertEquals(plan.split(",").length - (plan.startsWith("seed") ? 1 : 0), report.get("faults").get("rules").size());
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldAccountForEveryWorkRequestOverVerbs() throws IOException {
        final String operations = TestDevice.isShort() ? "500" : "20000";
        assertEquals(0, execute("--api", "verbs", "--operations", operations, "--json"), calls::toString);
        for (final JsonNode account : calls.json().get("paths")) {
            assertEquals(account.get("posted").asLong(), account.get("completed").asLong(), calls::out);
        }
        assertEquals(0, calls.json().get("corrupted").asLong());
    }

    @Test
    void shouldReplaceBrokenConnectionsOverVerbs() throws IOException {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device takes a fault plan");
        assertEquals(0, execute("--api", "verbs", "--operations", "20000", "--json", "--faults",
            "call:rdma_connect:ENOMEM@3,call:rdma_accept:EIO@3,disconnect@900,status:retry-exc-err@~2000"), calls::toString);
        for (final JsonNode account : calls.json().get("paths")) {
            assertEquals(account.get("posted").asLong(), account.get("completed").asLong(), calls::out);
        }
        assertTrue(calls.json().get("faults").get("injected").asLong() > 0, calls::out);
    }

    @Test
    void shouldReportTheDriftOfMemoryAndAllocation() throws IOException {
        execute("--seconds", "3", "--warm-up", "0", "--soak", "--json");
        final JsonNode soak = calls.json().get("soak");
        assertTrue(soak.get("samples").size() >= 1, calls::out);
        for (final JsonNode sample : soak.get("samples")) {
            assertTrue(sample.get("residentBytes").asLong() > 0 && sample.get("completions").asLong() >= 0, sample::toString);
        }
    }

    @Test
    void shouldNameTheSetUpCallThatFailedByThePlan() {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device takes a fault plan");
        assertEquals(1, execute("--operations", "10", "--faults", "call:ibv_alloc_pd:EMFILE@1"));
        assertEquals(1, calls.err().strip().lines().count(), calls::err);
        assertTrue(calls.err().contains("EMFILE"), calls.err());
    }

    @ParameterizedTest
    @Tag(TestDevice.TAG)
    @ValueSource(ints = {13, 65_536})
    @LoopbackCases({"8", "4096"})
    void shouldVerifyPayloadsOfAnyLength(final int payload) {
        assertEquals(
            0, execute("--operations", "300", "--payload", Integer.toString(payload), "--connections", "3"), calls::err);
        assertTrue(calls.out().contains("corrupted payloads   0"), calls.out());
    }

    @Test
    void shouldLoseNothingWhenTheRingIsTooSmall() {
        assertEquals(0, execute("--operations", "400", "--ring-size", "2", "--batch", "2"), calls::toString);
    }

    @ParameterizedTest
    @Tag(TestDevice.TAG)
    @ValueSource(strings = {"busy-spin", "block"})
    @LoopbackCases({"yield", "sleep"})
    void shouldRunWithEveryWait(final String wait) {
        assertEquals(0, execute("--operations", "500", "--wait", wait), calls::toString);
        assertTrue(calls.out().contains("waits by " + wait + " (as asked)"), calls.out());
    }

    @Test
    void shouldPinEachThreadAsPlanned() {
        final AffinityPlan plan = AffinityPlan.plan(Topology.ofThisMachine(), PlanRequest.ofPipeline());
        assertEquals(0, execute("--operations", "2000", "--pin", "auto"), calls::toString);
        final String pinned = plan.cpus().isEmpty() ? "no thread pinned" : "pinned " + plan.cpus() + " (by plan)";
        assertTrue(calls.out().contains(pinned), calls.out());
        assertTrue(calls.out().contains("waits by " + plan.waitMode(ThreadRole.Kind.HANDLER).option() + " (by plan)"),
            calls.out());
    }

    @Test
    void shouldRunByTheLineThatThePlanPrints() {
        final Topology here = Topology.ofThisMachine();
        final AffinityPlan plan = AffinityPlan.plan(here, PlanRequest.ofPipeline());
        final List<String> words = new ArrayList<>(List.of(new PlanSettings(here, plan).run().split(" ")));
        assertEquals(List.of("./ringpoll", "run"), words.subList(0, 2));
        words.addAll(List.of("--operations", "2000"));
        assertEquals(0, execute(words.subList(2, words.size()).toArray(String[]::new)), calls::toString);
        assertTrue(calls.out().contains(plan.cpus().isEmpty() ? "no thread pinned" : "pinned " + plan.cpus()), calls.out());
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldReportThatThePortIsInUse() {
        try (Peer peer = Peer.ofLocal(ADDRESS); Endpoint endpoint = peer.listen(ADDRESS, "7460")) {
            assertEquals(1, execute("--operations", "10", "--address", ADDRESS + ":7460"));
            assertEquals(
                "ringpoll run: port 7460 of " + ADDRESS + " is in use: choose another with --address " + ADDRESS +
                    ":PORT, or leave the port out", calls.err().strip());
        }
    }

    @Test
    void shouldTakeAnotherPortIfNoneWasAskedFor() {
        try (Peer peer = Peer.ofLocal(ADDRESS); Endpoint endpoint = peer.listen(ADDRESS, "7471")) {
            assertEquals(0, execute("--operations", "10"), calls::err);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--ring-size=100 | --ring-size 100 is not a power of two from 2 to 16777216",
        "--payload=4 | --payload 4 is not from 8 to 1048576 bytes",
        "--connections=0 | --connections 0 is not from 1 to 1024",
        "--batch=9000 | --batch 9000 is not from 1 to the ring size, 8192",
        "--wait=never | --wait 'never' is not auto, busy-spin, yield, sleep or block",
        "--pin=poller=x | --pin: 'x' is not a CPU number",
        "--pin=pilot=1 | --pin: 'pilot' is not a thread; threads are poller, send-write, receive, error, client",
        "--device=floppy | --device 'floppy' is not auto, loopback or rdma",
        "--address=127.0.0.1:99999 | --address: '99999' is not a port from 1 to 65535",
        "--faults=poll | --faults: fault plan: 'poll': a rule is KIND[:ARGUMENT...]@WHEN",
        "--pin=999 | --pin: CPU 999 cannot be used; this process may use @CPUS@",
        "--pin=poller=0,poller=0 | --pin: two CPUs for poller",
        "--pin= | --pin: '' is not a CPU number",
        "--warm-up=NaN | --warm-up NaN is not from 0 to 3600 seconds",
        "--address= | --address '' has no host: use HOST or HOST:PORT",
        "--address=münchen:80 | --address: 'münchen' is neither a name of a host nor an IP address",
        "--address=[::1]:0 | --address: '0' is not a port from 1 to 65535",
        "--operations=0 | --operations 0 is not 1 or more",
        "--operations=1 --seconds=1 | --seconds and --operations exclude each other",
        "--frobnicate | Unknown option: '--frobnicate'; see './ringpoll run --help'",
    })
    void shouldAnswerWrongUsageWithOneLineAndExitCodeTwo(final String arguments, final String message) {
        assertEquals(2, execute(arguments.split(" ")));
        final String usable = Topology.ofThisMachine().usable().toString();
        assertEquals("ringpoll run: " + message.replace("@CPUS@", usable), calls.err().strip());
        assertEquals("", calls.out());
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldUseTheAddressOfTheDeviceIfNoneIsAskedFor() {
        assertEquals(0, execute("--operations", "10", "--no-address"), calls::err);
        final String said =
            TestDevice.isLoopback() ? "the server listens on 127.0.0.1" : Device.current().address().description();
        assertTrue(calls.out().contains(said), calls.out());
    }

    @Test
    void shouldMeasureAfterTheWarmUpLimitAndReportWhetherTheHotThreadsHadSettled() throws IOException {
        assertEquals(0, execute("--seconds", "0.2", "--warm-up", "0", "--json"), calls::err);
        final JsonNode allocated = calls.json().get("allocatedBytes");
        assertFalse(allocated.get("settled").asBoolean(), calls::out);
        assertTrue(allocated.get("seconds").asDouble() >= 0.2, calls::out);
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldReportThatAClientReachesNoServer() {
        final int exit = execute("--role", "client", "--operations", "10", "--address", ADDRESS + ":7459");
        assertEquals(1, exit, calls::err);
        final String reason = "no connection to " + ADDRESS + ", port 7459 (is the server there?)";
        assertTrue(calls.err().contains(reason), calls::err);
    }

    @Test
    void shouldReportThatAnAddressBelongsToNoDevice() {
        assertEquals(1, execute("--operations", "10", "--address", "203.0.113.77"));
        assertEquals(1, calls.err().strip().lines().count(), calls.err());
        assertTrue(calls.err().contains("203.0.113.77"), calls.err());
    }

    @Test
    void shouldReportThatLibrpmaIsMissing() throws Exception {
        final Process process = start("-Dringpoll.librpma=/nowhere/librpma.so", "--operations", "10");
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        final String said = new String(process.getErrorStream().readAllBytes()).strip();
        assertEquals(1, process.exitValue(), said);
        assertEquals(1, said.lines().count(), said);
        assertTrue(said.contains("/nowhere/librpma.so"), said);
    }

    @Test
    void shouldEndInOrderWithTheTableWhenItIsInterrupted() throws Exception {
        final Process process = start("--seconds", "100");
        final StringBuilder said = new StringBuilder();
        try (var reader = process.inputReader()) {
            String line = reader.readLine();
            while (line != null) {
                said.append(line).append('\n');
                if (line.startsWith("  1 s")) {
                    assertEquals(0, new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor());
                }
                line = reader.readLine();
            }
        }
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assertTrue(said.toString().contains("corrupted payloads   0"), said.toString());
        assertFalse(said.toString().contains("wrong:"), said.toString());
        assertEquals(128 + 2, process.exitValue(), said.toString());
    }

    private int execute(final String... arguments) {
        final List<String> words = new ArrayList<>(List.of(arguments));
        if (!words.remove("--no-address") && words.stream().noneMatch(word -> word.startsWith("--address"))) {
            words.addAll(List.of("--address", ADDRESS));
        }
        return calls.execute(words.toArray(String[]::new));
    }

    private static Process start(final String... arguments) throws IOException {
        // A background job of a script may ignore SIGINT, and its child processes inherit that.
        final List<String> command = new ArrayList<>(List.of(
            "env", "--default-signal=INT", System.getProperty("java.home") + "/bin/java"));
        command.addAll(JavaProcess.flags());
        command.add(ChildCommand.SHORT_LIVED);
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        int next = 0;
        while (arguments[next].startsWith("-D")) {
            command.add(arguments[next++]);
        }
        command.addAll(List.of(Ringpoll.class.getName(), "run"));
        command.addAll(List.of(arguments).subList(next, arguments.length));
        return new ProcessBuilder(command).start();
    }
}
