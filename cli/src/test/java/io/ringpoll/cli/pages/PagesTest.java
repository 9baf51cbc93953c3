package io.ringpoll.cli.pages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.measure.Goal;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.cli.Ringpoll;
import io.ringpoll.tuning.RecordedTree;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** README.md, docs/ and the other pages: headings, links, commands and Java examples. */
@Timeout(300)
class PagesTest {
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)|(?:src|srcset)=\"([^\"]+)\"|(?m)^\\[\\w+]: (\\S+)$");
    private static final int LONGEST_LINE = 130;
    private static final Pattern REFERENCE = Pattern.compile("docs/[\\w/-]+\\.(?:md|svg)");

    private static final Pattern SCRIPT = Pattern.compile("tuning/scripts/[a-z-]+ --[^`\n#|\"]*--apply[^`\n#|]*");

    @TempDir
    private Path folder;

    static List<Page> pages() {
        return Page.all();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void shouldHaveOneFirstLevelHeading(final Page page) {
        assertEquals(1, page.headings(1).size(), () -> page + ": " + page.headings(1));
    }

    @ParameterizedTest
    @MethodSource("pages")
    void shouldHaveLinesOfAtMost130Columns(final Page page) throws IOException {
        assertEquals(List.of(), Files.readAllLines(page.file()).stream()
            .filter(line -> line.length() > LONGEST_LINE).toList(), page::toString);
    }

    @ParameterizedTest
    @MethodSource("pages")
    void shouldLinkToFilesAndHeadingsThatExist(final Page page) {
        final List<String> broken = new ArrayList<>();
        final Matcher link = LINK.matcher(String.join("\n", page.prose()));
        while (link.find()) {
            final String target = IntStream.rangeClosed(1, link.groupCount()).mapToObj(link::group).filter(Objects::nonNull)
                .findFirst().orElseThrow();
            if (!target.matches("[a-z]+:.*") && !resolves(page, target)) {
                broken.add(target);
            }
        }
        assertEquals(List.of(), broken, page::toString);
    }

    private static boolean resolves(final Page page, final String target) {
        final String[] parts = target.split("#", 2);
        final Path file = parts[0].isEmpty() ? page.file() : page.file().resolveSibling(parts[0]).normalize();
        return Files.exists(file) && (parts.length == 1 || Page.read(file).anchors().contains(parts[1]));
    }

    @ParameterizedTest
    @MethodSource("pages")
    void shouldShowCommandsAndOptionsThatExist(final Page page) throws Exception {
        final CommandLines commands = new CommandLines();
        assertTrue(commands.size() > 10, "the launcher's commands were not found");
        assertEquals(List.of(), commands.faults(page.text()), page::toString);
    }

    /** Those that take seconds; where the machine decides, only their options are checked. */
    @ParameterizedTest
    @ValueSource(strings = {
        "doctor", "tune plan", "torture --seed 42 --scenes 1", "fuzz --target stat-options --seed 68 --inputs 1",
        "run --operations 100000 --payload 4096 --connections 8",
        "run --operations 100000 --faults seed=7,status:retry-exc-err:write@~5000,poll:2@~20000,delay:2ms@~3000,disconnect@9000"})
    void shouldShowCommandsThatSucceed(final String command) {
        assertTrue(pages().stream().anyMatch(page -> page.text().contains("./ringpoll " + command)), "no page shows it");
        final StringWriter output = new StringWriter();
        final PrintWriter printer = new PrintWriter(output, true);
        final String[] words = command.split(" ");
        assertEquals(0, Ringpoll.commandLine(words).setOut(printer).setErr(printer).execute(words), output::toString);
    }

    /** Their plans, on a recorded server, as nothing is applied. */
    @Test
    void shouldShowScriptsThatPlanAChange() throws Exception {
        RecordedTree.named("two-socket-smt")
            .withEach(2, 6, "sys/devices/system/cpu/cpu#/power/pm_qos_resume_latency_us", "0").expand(folder);
        final List<String> shown = pages().stream().flatMap(page -> SCRIPT.matcher(page.text()).results())
            .map(MatchResult::group).filter(line -> !line.contains(" USER ")).toList();
        assertTrue(shown.size() > 4, shown::toString);
        for (final String line : shown) {
            final String[] words = line.replace("--apply", "").strip().split("\\s+");
            final ProcessBuilder builder = new ProcessBuilder(words).directory(Page.ROOT.toFile()).redirectErrorStream(true);
            builder.environment().put("ROOT", folder.toString());
            final Process process = builder.start();
            final String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, process.waitFor(), () -> line + ": " + printed);
            assertTrue(printed.contains("would ") && printed.contains("nothing was "), () -> line + ": " + printed);
        }
    }

    @ParameterizedTest
    @MethodSource("pages")
    void shouldShowJavaThatCompiles(final Page page) {
        assertEquals(List.of(), new JavaExamples().errors(page), page::toString);
    }

    @Test
    void shouldBeLinkedFromTheIndex() throws IOException {
        final String index = Files.readString(Page.ROOT.resolve("docs/README.md"));
        final List<String> missing = pages().stream().map(Page::toString)
            .filter(page -> page.startsWith("docs/") && !page.equals("docs/README.md"))
            .filter(page -> !index.contains("](" + page.substring("docs/".length()) + ")")).toList();
        assertEquals(List.of(), missing);
    }

    @Test
    void shouldListEveryGoalWithItsBoundAmongTheResults() throws IOException {
        final List<String> rows = Files.readAllLines(Page.ROOT.resolve("docs/results.md"));
        final List<Goal> missing = Goals.all().stream().filter(goal -> rows.stream().noneMatch(row -> row.startsWith(
            "| `" + goal.result() + "` | `" + goal.baseline() + "` | " + goal.bound() + " |"))).toList();
        assertEquals(List.of(), missing);
    }

    @Test
    void shouldExistWhereSourcesAndScriptsNameThem() throws IOException {
        final List<String> missing = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Page.ROOT)) {
            for (final Path file : files.filter(PagesTest::isSource).toList()) {
                final Matcher reference = REFERENCE.matcher(Files.readString(file, StandardCharsets.ISO_8859_1));
                while (reference.find()) {
                    if (!Files.exists(Page.ROOT.resolve(reference.group()))) {
                        missing.add(Page.ROOT.relativize(file) + ": " + reference.group());
                    }
                }
            }
        }
        assertEquals(List.of(), missing);
    }

    private static boolean isSource(final Path file) {
        final String path = Page.ROOT.relativize(file).toString();
        return Files.isRegularFile(file)
            && !path.matches("(.*/)?(target|\\.git)/.*|\\.git|.*\\.(jar|so|gz|png|svg)");
    }

    @Test
    void shouldShowTheSameFirstProgramInReadmeAndQuickstart() {
        assertEquals(program("README.md"), program("docs/quickstart.md"));
    }

    @Test
    void shouldRunTheFirstProgram() throws Exception {
        final Path source = Files.writeString(folder.resolve("FirstCompletion.java"), program("README.md"));
        final Path out = folder.resolve("out");
        final ProcessBuilder builder = new ProcessBuilder(
            ProcessHandle.current().info().command().orElseThrow(), "--enable-native-access=ALL-UNNAMED",
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
            source.toString());
        final Process process = builder.redirectErrorStream(true).redirectOutput(out.toFile()).start();
        try {
            assertTrue(process.waitFor(120, TimeUnit.SECONDS), "the program does not end");
        } finally {
            process.destroyForcibly();
        }
        final String printed = Files.readString(out);
        assertEquals(0, process.exitValue(), printed);
        assertTrue(printed.contains("written: work request 42"), printed);
        assertFalse(printed.contains("failed"), printed);
    }

    private static String program(final String page) {
        return Page.read(Page.ROOT.resolve(page)).blocks().stream()
            .filter(block -> "java".equals(block.language()) && JavaExamples.isProgram(block.text()))
            .findFirst().orElseThrow().text();
    }
}
