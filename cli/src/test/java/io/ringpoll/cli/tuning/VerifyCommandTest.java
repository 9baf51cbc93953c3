package io.ringpoll.cli.tuning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.cli.Ringpoll;
import io.ringpoll.cli.options.ChildCommand;
import io.ringpoll.cli.options.CommandCalls;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs the complete command; the figures of a loaded machine are not checked. */
@Timeout(300)
class VerifyCommandTest {
    private static final List<String> SHORT = List.of("tune", "verify", "--rounds", "2", "--window", "20", "--settle", "0",
        "--rate", "10000", "--warm-up", "0.05");

    private final CommandCalls calls = new CommandCalls(Ringpoll::commandLine);

    @TempDir
    private Path folder;

    @Test
    void shouldCompareWithASavedMeasurementOfTheSameSettings() throws IOException {
        final Path file = folder.resolve("new").resolve("before.json");
        assertEquals(0, verify("--before", file.toString()), calls::err);
        assertTrue(calls.out().startsWith("saved to " + file + "; make the change, then: "), calls::out);
        final String text = Files.readString(file);
        for (final String key : List.of("commit", "version", "cpu", "kernel", "jvm", "pollerCpu", "rounds", "host", "doctor")) {
            assertTrue(text.contains('"' + key + '"'), text);
        }
        // The settings are those of the file.
        assertEquals(0, calls.execute("tune", "verify", "--after", file.toString(), "--warm-up", "0.05"), calls::err);
        assertTrue(calls.out().contains("2 rounds of 20 ms of jitter and of latency"), calls::out);
        assertTrue(calls.out().contains("too few runs") && calls.out().contains("an interval needs 6 pairs"), calls::out);
        assertTrue(calls.out().contains("the rounds did not alternate"), calls::out);
    }

    @Test
    void shouldRefuseFilesThatCannotBeComparedWith() throws IOException {
        final Path file = folder.resolve("before.json");
        assertEquals(0, verify("--before", file.toString()), calls::err);
        assertRefused("--after " + file + " was measured with 2 rounds, not 3 (--rounds): both sides need the same settings",
            "--after", file.toString(), "--rounds", "3");
        assertRefused("--before " + file + ": exists; name another file, or delete it", "--before", file.toString());
        final Path other = folder.resolve("other.json");
        Files.writeString(other, Files.readString(file).replaceFirst("\"commit\" : \"[^\"]*\"", "\"commit\" : \"other\""));
        assertEquals(2, calls.execute("tune", "verify", "--after", other.toString()));
        assertTrue(calls.err().contains("--after " + other + " was measured by ringpoll, commit other, not "), calls::err);
        assertTrue(calls.err().strip().endsWith(": measure both sides there, or both here"), calls::err);
        assertRefused("--after '/no/such/file' cannot be read; measure before the change with --before FILE", "--after",
            "/no/such/file");
        assertRefused("--after " + Files.writeString(other, "{}")
            + " is no measurement of 'tune verify' in the format of this version", "--after", other.toString());
    }

    @Test
    void shouldRefuseWhatItCannotDoBeforeItMeasures() {
        assertRefused("nothing to verify: give --before FILE, --after FILE, or -- COMMAND");
        assertRefused("--before, --after and a COMMAND exclude each other", "--before", folder + "/a", "--", "true");
        assertRefused("--undo goes with a COMMAND, after --", "--undo", "true");
        assertRefused("COMMAND: no program 'no/such/program'", "--", "no/such/program");
        assertRefused("COMMAND: no program 'no-such-program'", "--", "no-such-program");
        assertRefused("--undo 'no-such-program x': no such program", "--undo", "no-such-program x", "--", "true");
        assertRefused("--pin: jitter is measured on the CPUs of poller and handler; name two", "--pin", "none", "--", "true");
    }

    private void assertRefused(final String message, final String... words) {
        final List<String> all = new ArrayList<>(List.of("tune", "verify"));
        all.addAll(List.of(words));
        assertEquals(2, calls.execute(all.toArray(String[]::new)), calls::out);
        assertEquals("ringpoll tune verify: " + message + "\n", calls.err());
        assertEquals("", calls.out());
    }

    @Test
    void shouldUndoAndFailInOneLineIfTheCommandFails() throws IOException {
        final Path undone = folder.resolve("undone");
        final Path failing = script("failing", "echo a word; exit 7");
        assertEquals(1, verify("--undo", "touch " + undone, "--", failing.toString()));
        assertTrue(calls.err().contains("\n  a word\n"), calls::err);
        assertTrue(calls.err().endsWith("ringpoll tune verify: '" + failing
            + "' ended with 7; any changes it made are undone\n"), calls::err);
        assertTrue(Files.exists(undone));
        assertEquals("", calls.out());
    }

    @Test
    void shouldReportThatTheChangesOfAFailedCommandRemainIfNothingUndoesThem() throws IOException {
        final Path failing = script("failing", "exit 7");
        assertEquals(1, verify("--", failing.toString()));
        assertTrue(calls.err().endsWith("ringpoll tune verify: '" + failing + "' ended with 7; any changes it made remain\n"),
            calls::err);
        assertEquals(1, verify("--undo", "false", "--", failing.toString()));
        assertTrue(calls.err().endsWith("ringpoll tune verify: '" + failing
            + "' ended with 7, and 'false' ended with 1; any changes it made remain\n"), calls::err);
    }

    @Test
    void shouldPrintALongLineOfTheCommandInParts() throws IOException {
        final Path talking = script("talking", "head -c 4003 /dev/zero | tr '\\0' x; printf '\\ny\\r\\n\\nz'");
        assertEquals(0, verify("--", talking.toString()), calls::err);
        final String part = "  " + "x".repeat(2000) + "\n";
        assertTrue(calls.err().contains("\n" + part.repeat(2) + "  xxx\n  y\n  z\n"), calls::err);
    }

    @Test
    void shouldSayThatTheChangeIsNotUndoneIfItsUndoingFails() {
        assertEquals(1, verify("--undo", "false", "--", "true"));
        assertTrue(calls.err().endsWith("ringpoll tune verify: 'false' ended with 1; the change is not undone\n"), calls::err);
    }

    @Test
    void shouldLeaveAChangeThatHasNoUndoing() {
        final Path applied = folder.resolve("applied");
        assertEquals(0, verify("--", "touch", applied.toString()), calls::err);
        assertTrue(Files.exists(applied));
        assertEquals(1, calls.err().lines().filter(line -> line.equals("$ touch " + applied)).count(), calls::err);
        assertTrue(calls.out().contains("the rounds did not alternate"), calls::out);
    }

    @Test
    void shouldUndoTheChangeWhenASignalArrives() throws IOException, InterruptedException {
        final Path undone = folder.resolve("undone");
        final List<String> command = ChildCommand.of(List.of(), Ringpoll.class, "tune", "verify",
            "--rounds", "10000", "--window", "100", "--settle", "0", "--rate", "1000", "--warm-up", "0.05",
            "--undo", "touch " + undone, "--", "true");
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (BufferedReader lines = new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String line = lines.readLine();
            while (line != null && !line.equals("round 1 of 10000, after the change")) {
                line = lines.readLine();
            }
            assertTrue(line != null, "it ended before the signal");
            assertFalse(Files.exists(undone));
            process.toHandle().destroy();
            final List<String> last = lines.lines().toList();
            assertTrue(last.contains("ringpoll tune verify: interrupted; the change is not in effect"), last::toString);
            assertFalse(last.stream().anyMatch(each -> each.contains("Exception")), last::toString);
            assertTrue(process.waitFor(120, TimeUnit.SECONDS));
            assertTrue(Files.exists(undone));
        } finally {
            process.destroyForcibly();
        }
    }

    private int verify(final String... words) {
        final List<String> all = new ArrayList<>(SHORT);
        all.addAll(List.of(words));
        return calls.execute(all.toArray(String[]::new));
    }

    private Path script(final String name, final String text) throws IOException {
        return script(folder, name, text);
    }

    static Path script(final Path folder, final String name, final String text) throws IOException {
        final Path script = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + text + "\n");
        return Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    }
}
