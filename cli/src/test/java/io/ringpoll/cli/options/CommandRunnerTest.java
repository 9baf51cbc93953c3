package io.ringpoll.cli.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Timeout(60)
class CommandRunnerTest {
    private final StringWriter err = new StringWriter();

    private int run(final OutputStream out, final Work work, final String... arguments) {
        final CommandLine line =
            CommandRunner.configured(new CommandLine(new Example(work)),
                failure -> failure instanceof IllegalStateException || failure instanceof UncheckedIOException);
        line.setErr(new PrintWriter(err, true));
        return CommandRunner.run(line, new ResultStream(out, out instanceof ClosedPipe), arguments);
    }

    private int print(final OutputStream out) {
        return run(out, printer -> {
            printer.println("a table");
            return 0;
        });
    }

    @Test
    void shouldPrintTheWholeResultAlthoughTheCommandDoesNotFlush() {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        assertEquals(0, run(out, printer -> {
            printer.print("a table");
            return 0;
        }));
        assertEquals("a table", out.toString(StandardCharsets.US_ASCII));
        assertEquals("", err.toString());
    }

    @Test
    void shouldFailInOneLineIfTheResultCannotBeWritten() throws IOException {
        try (OutputStream full = new FileOutputStream("/dev/full")) {
            assertEquals(1, print(full));
        }
        assertTrue(err.toString().startsWith("ringpoll example: cannot write to standard output: "), err::toString);
        assertEquals(1, err.toString().lines().count(), err::toString);
    }

    @Test
    void shouldFailIfTheHelpCannotBeWritten() throws IOException {
        try (OutputStream full = new FileOutputStream("/dev/full")) {
            assertEquals(1, run(full, printer -> 0, "--help"));
        }
        assertEquals(1, err.toString().lines().count(), err::toString);
    }

    @ParameterizedTest
    @CsvSource({"0", "1"})
    void shouldKeepTheExitCodeIfTheReaderOfAPipeHasEnoughOfIt(final int status) {
        assertEquals(status, run(new ClosedPipe(), printer -> {
            printer.println("a table");
            return status;
        }));
        assertEquals("", err.toString());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "Java heap space|-Xmx",
        "GC overhead limit exceeded|-Xmx",
        "Metaspace|-XX:MaxMetaspaceSize",
        "Cannot reserve 64 bytes of direct buffer memory|-XX:MaxDirectMemorySize",
        "unable to create native thread: possibly out of memory or process/resource limits reached|ulimit -u"})
    void shouldNameTheRemedyInOneLineIfMemoryRunsOut(final String reason, final String remedy) {
        assertEquals(1, run(new ByteArrayOutputStream(), printer -> {
            throw new OutOfMemoryError(reason);
        }));
        assertTrue(err.toString().startsWith("ringpoll example: out of memory (" + reason + "): "), err::toString);
        assertTrue(err.toString().contains(remedy), err::toString);
        assertEquals(1, err.toString().lines().count(), err::toString);
    }

    @Test
    void shouldFindTheMemoryShortageBehindAnotherFailure() {
        assertEquals(1, run(new ByteArrayOutputStream(), printer -> {
            throw new IllegalStateException("it failed", new OutOfMemoryError("Java heap space"));
        }));
        assertTrue(err.toString().contains("-Xmx"), err::toString);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "--round=3|ringpoll example: Unknown option: '--round=3'; did you mean --rounds? ",
        "--rounds=x|ringpoll example: Invalid value for option '--rounds': 'x' is not a whole number up to 2147483647; ",
        "--rounds|ringpoll example: Missing required parameter for option '--rounds' (<rounds>); ",
        "extra|ringpoll example: Unmatched argument: 'extra'; "})
    void shouldPointToTheHelpForWrongUsage(final String argument, final String message) {
        assertEquals(2, run(new ByteArrayOutputStream(), printer -> 0, argument));
        assertEquals(message + " see './ringpoll example --help'", err.toString().strip());
    }

    @Test
    void shouldNotProposeTheOptionThatIsGivenBehindTheOptions() {
        assertEquals(2, run(new ByteArrayOutputStream(), printer -> 0, "--", "--rounds=3"));
        assertEquals("ringpoll example: Unknown option: '--rounds=3'; options come before '--': see './ringpoll example --help'",
            err.toString().strip());
        err.getBuffer().setLength(0);
        assertEquals(2, run(new ByteArrayOutputStream(), printer -> 0, "--", "--rounds"));
        assertEquals("ringpoll example: Unknown option: '--rounds'; options come before '--': see './ringpoll example --help'",
            err.toString().strip());
    }

    @Test
    void shouldNameAFileAndTheReasonInsteadOfAJavaClass() {
        assertEquals(1, run(new ByteArrayOutputStream(), printer -> {
            throw new UncheckedIOException(new NoSuchFileException("/a/b"));
        }));
        assertEquals("ringpoll example: /a/b: no such file or folder", err.toString().strip());
        err.getBuffer().setLength(0);
        assertEquals(1, run(new ByteArrayOutputStream(), printer -> {
            throw new UncheckedIOException(new FileSystemException("/a/b", null, "No space left on device"));
        }));
        assertEquals("ringpoll example: /a/b: No space left on device", err.toString().strip());
    }

    @Test
    void shouldNameTheReasonAndTheRemedyOfAnUnknownHost() {
        assertEquals(1, run(new ByteArrayOutputStream(), printer -> {
            throw new UncheckedIOException(new UnknownHostException("nowhere.invalid"));
        }));
        assertEquals("ringpoll example: nowhere.invalid: unknown host; check the name, or use an IP address",
            err.toString().strip());
    }

    @Test
    void shouldPrintAVersion() {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        assertEquals(0, run(out, printer -> 0, "--version"));
        assertTrue(out.toString(StandardCharsets.US_ASCII).startsWith("ringpoll "), out::toString);
    }

    /** The work of the command. */
    private interface Work {
        int print(PrintWriter out);
    }

    @Command(name = "example", mixinStandardHelpOptions = true)
    private static final class Example implements Callable<Integer> {
        private final Work work;

        @Spec
        private CommandSpec spec;

        @Option(names = "--rounds")
        private int rounds;

        Example(final Work work) {
            this.work = work;
        }

        @Override
        public Integer call() {
            return work.print(spec.commandLine().getOut());
        }
    }

    private static final class ClosedPipe extends OutputStream {
        @Override
        public void write(final int octet) throws IOException {
            throw new IOException("Broken pipe");
        }
    }
}
