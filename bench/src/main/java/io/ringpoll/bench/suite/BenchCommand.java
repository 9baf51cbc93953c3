package io.ringpoll.bench.suite;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.MachineReport;
import io.ringpoll.bench.options.CheckedOptions;
import io.ringpoll.bench.options.Execution;
import io.ringpoll.bench.options.OutputPath;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.openjdk.jmh.runner.RunnerException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ./ringpoll bench}: everything measured in one run, ours beside the baselines, into one folder. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Measures ringpoll beside plain C and the usual alternatives in one run: a table, JSON, a report with plots.")
public final class BenchCommand implements Callable<Integer>, CheckedOptions {
    @Spec
    private CommandSpec spec;

    @Option(names = "--quick", description = "What matters most, in less than five minutes; the default.")
    private boolean quick;

    @Option(names = "--full", description = "Everything; about half an hour.")
    private boolean full;

    @Option(names = "--glance", hidden = true, description = "Each for a moment: to see that it works.")
    private boolean glance;

    @Option(names = "--only", paramLabel = "PART", split = ",",
        description = "Only these: poll, flyweight, hand-off, post, wake-up, counters, throughput, latency.")
    private List<String> only;

    @Option(names = "--output", paramLabel = "DIR",
        description = "Folder for bench.json, report.html and histograms (bench-results/ and the time).")
    private Path output;

    @Option(names = "--json", description = "Print one JSON object and nothing else on standard output.")
    private boolean json;

    private Progress progress;
    private long startNs;

    /** Created by picocli. */
    BenchCommand() {
    }

    /**
     * Runs the command.
     *
     * @param arguments as typed
     */
    public static void main(final String[] arguments) {
        System.exit(Execution.run(new BenchCommand(), arguments));
    }

    @Override
    public void check() {
        Execution.require(spec, !quick || !full, "--quick and --full exclude each other");
        Execution.require(spec, only == null || !only.isEmpty(), "--only names no part");
        parts();
        OutputPath.requireFolder(spec, "--output", output);
    }

    @Override
    public Integer call() throws IOException, InterruptedException, RunnerException {
        check();
        final Effort effort = full ? Effort.FULL : glance ? Effort.GLANCE : Effort.QUICK;
        final Set<Part> parts = parts();
        final Path folder = folder();
        final PrintWriter out = spec.commandLine().getOut();
        final PrintWriter log = json ? spec.commandLine().getErr() : out;
        startNs = System.nanoTime();
        Device.choose(DeviceKind.LOOPBACK);
        log.println(MachineReport.line());
        progress = new Progress(log, RunPlan.of(parts, effort, folder));
        progress.begin();
        final JmhRounds rounds = new JmhRounds(effort);
        final List<BenchResult> results = new ArrayList<>();
        final List<JsonNode> documents = new ArrayList<>();
        final List<Comparison> comparisons = new ArrayList<>();
        ObjectNode root = null;
        for (final Part part : parts) {
            final List<Comparison> ofPart = part.comparisons(effort);
            comparisons.addAll(ofPart);
            results.addAll(rounds.measure(ofPart,
                variant -> advance(part.label() + ": " + variant, effort.expectedNs(variant))));
            for (final ToolRun tool : part.tools(effort, folder)) {
                advance(part.label() + ": " + tool.name(), tool.expectedNs());
                final JsonNode document = tool.run(folder);
                documents.add(document);
                results.addAll(BenchReport.resultsOf(document));
            }
            // After each part: who ends a long run early, or finds that a part fails, has what was measured before.
            root = document(results, documents, comparisons, rounds);
            Files.writeString(folder.resolve("bench.json"), JsonText.of(root));
            HtmlReport.write(root, results, folder);
        }
        if (json) {
            out.println(JsonText.of(root));
        } else {
            BenchReport.printTable(results, out);
            BenchReport.printAllocations(root.path("allocations"), out);
        }
        log.printf(Locale.ROOT, "%nin %d s, into %s%n", TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNs), folder);
        log.flush();
        out.flush();
        return 0;
    }

    private Set<Part> parts() {
        final Set<Part> chosen = EnumSet.noneOf(Part.class);
        for (final String name : only == null ? List.<String>of() : only) {
            chosen.add(Arrays.stream(Part.values()).filter(part -> part.label().equals(name)).findFirst()
                .orElseThrow(() -> new ParameterException(spec.commandLine(), "--only '" + name + "' is not one of " +
                    Arrays.stream(Part.values()).map(Part::label).collect(Collectors.joining(", ")))));
        }
        return chosen.isEmpty() ? EnumSet.allOf(Part.class) : chosen;
    }

    private Path folder() throws IOException {
        final Path folder = output != null ? output :
            Path.of("bench-results", DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").format(LocalDateTime.now()));
        return Files.createDirectories(folder).toAbsolutePath();
    }

    private void advance(final String what, final long expectedNs) {
        progress.next(what, System.nanoTime() - startNs, expectedNs);
    }

    private static ObjectNode document(final List<BenchResult> results, final List<JsonNode> documents,
        final List<Comparison> comparisons, final JmhRounds rounds) {
        final ObjectNode root = JsonText.document(results);
        final ArrayNode allocations = root.putArray("allocations");
        for (final Comparison comparison : comparisons) {
            allocations.addObject().put("name", comparison.name())
                .put("bytesPerOperation", BenchReport.rounded(rounds.allocatedBytes(comparison.ours())));
        }
        final ArrayNode latencies = root.putArray("latencies");
        documents.forEach(document -> document.path("latencies").forEach(latencies::add));
        return root;
    }
}
