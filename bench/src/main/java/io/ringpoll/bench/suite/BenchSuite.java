package io.ringpoll.bench.suite;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.growth.GrowthConfig;
import io.ringpoll.bench.growth.GrowthMeasurement;
import io.ringpoll.bench.growth.GrowthReport;
import io.ringpoll.bench.instructions.InstructionTable;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.MachineReport;
import io.ringpoll.bench.measure.TurnCount;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.runner.RunnerException;

/** All measurements in one run, of ringpoll and its baselines, with the results in one folder. Used by one thread. */
public final class BenchSuite {
    private final Set<Part> parts;
    private final Effort effort;
    private final Set<Integer> connections;
    private final Path folder;
    private final List<String> program;
    private final PrintWriter log;
    private final List<BenchResult> results = new ArrayList<>();
    private final Map<String, TurnCount> turnCounts = new LinkedHashMap<>();
    private DeviceKind device;
    private GrowthReport growth;
    private ObjectNode root;
    private Progress progress;
    private long startNs;

    /**
     * Prepares a run.
     *
     * @param parts       the measured parts
     * @param effort      effort of each
     * @param connections numbers of connections of {@link Part#ECHO}; all if empty
     * @param folder      folder for results, which exists
     * @param program     main class of the measuring tools, and the arguments before the name of a tool; run in separate JVMs
     * @param log         receives the progress
     */
    public BenchSuite(final Set<Part> parts, final Effort effort, final Set<Integer> connections, final Path folder,
        final List<String> program, final PrintWriter log) {
        this.parts = parts;
        this.effort = effort;
        this.connections = Set.copyOf(connections);
        this.folder = folder;
        this.program = List.copyOf(program);
        this.log = log;
    }

    /**
     * Measures.
     *
     * @throws IOException          if the folder cannot be written to
     * @throws InterruptedException if the calling thread is interrupted
     * @throws RunnerException      if a JMH benchmark cannot be run
     */
    public void run() throws IOException, InterruptedException, RunnerException {
        startNs = System.nanoTime();
        if (!Part.areOfTheMachinesDevice(parts)) {
            Device.choose(DeviceKind.LOOPBACK);
        }
        device = Device.current().kind();
        log.println(MachineReport.line());
        log.println(MachineReport.jvmLine());
        progress = new Progress(log, RunPlan.of(parts, effort, this::comparisons, this::tools));
        progress.begin();
        final JmhRounds rounds = new JmhRounds(effort);
        final List<JsonNode> documents = new ArrayList<>();
        final List<Comparison> comparisons = new ArrayList<>();
        for (final Part part : parts) {
            final List<Comparison> ofPart = comparisons(part);
            if (ofPart.isEmpty()) {
                part.comparisons(effort).stream().map(Comparison::name).distinct().forEach(name -> log.println("no figure: " +
                    name + " is about the loopback device; RINGPOLL_DEVICE=loopback measures that instead of this machine's"));
            }
            comparisons.addAll(ofPart);
            results.addAll(rounds.measure(ofPart,
                variant -> advance(part.label() + ": " + variant, effort.expectedNs(variant))));
            for (final ToolRun tool : tools(part)) {
                advance(part.label() + ": " + tool.name(), tool.expectedNs());
                final JsonNode document = tool.run(folder, program);
                document.path("unmeasured").forEach(line -> log.println("no figure: " + line.asText()));
                documents.add(document);
                TurnCount.of(document).ifPresent(count -> turnCounts.put(tool.name(), count));
                results.addAll(BenchReport.resultsOf(document));
            }
            final Optional<GrowthConfig> growthConfig = part.growth(effort);
            if (growthConfig.isPresent()) {
                advance(part.label(), growthConfig.get().expectedNs());
                growth = new GrowthMeasurement(growthConfig.get()).run();
                growth.plot(folder);
                results.addAll(growth.results());
            }
            // Written after each part, so that a run that is ended early, or a failing part, keeps the previous results.
            root = document(documents, comparisons, rounds);
            Files.writeString(folder.resolve("bench.json"), JsonText.of(root));
            HtmlReport.write(root, results, folder);
        }
        if (growth != null && !growth.faults().isEmpty()) {
            throw new IllegalStateException(growth.faults().getFirst());
        }
    }

    private List<Comparison> comparisons(final Part part) {
        return part.comparisons(effort, device);
    }

    private List<ToolRun> tools(final Part part) {
        return part == Part.ECHO ? List.of(Part.echo(effort, connections)) : part.tools(effort, folder);
    }

    /**
     * Prints the tables.
     *
     * @param out text output
     */
    public void print(final PrintWriter out) {
        final List<BenchResult> others = results.stream().filter(result -> !GrowthReport.isGrowth(result)).toList();
        if (!others.isEmpty()) {
            BenchReport.printTable(others, out);
        }
        if (growth != null) {
            growth.print(out);
        }
        InstructionTable.print(root.path("instructions"), out);
        BenchReport.printAllocations(root.path("allocations"), out);
        turnCounts.forEach((tool, count) -> out.println(tool + ": " + count));
    }

    /**
     * The results as one JSON object.
     *
     * @return its text
     */
    public String toJson() {
        return JsonText.of(root);
    }

    /** Prints the duration. */
    public void printEnd() {
        log.printf(Locale.ROOT, "%nin %d s%n", TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNs));
        log.flush();
    }

    private void advance(final String what, final long expectedNs) {
        progress.next(what, System.nanoTime() - startNs, expectedNs);
    }

    private ObjectNode document(final List<JsonNode> documents,
        final List<Comparison> comparisons, final JmhRounds rounds) {
        final ObjectNode document = JsonText.document(results);
        final ArrayNode allocations = document.putArray("allocations");
        for (final Comparison comparison : comparisons) {
            allocations.addObject().put("name", comparison.name())
                .put("bytesPerOperation", BenchReport.rounded(rounds.allocatedBytes(comparison.ours())));
        }
        final ArrayNode latencies = document.putArray("latencies");
        documents.forEach(each -> each.path("latencies").forEach(latencies::add));
        final ArrayNode instructions = document.putArray("instructions");
        documents.forEach(each -> each.path("instructions").forEach(instructions::add));
        final ObjectNode turns = document.putObject("turns");
        turnCounts.forEach((tool, count) -> count.addTo(turns.putObject(tool)));
        if (growth != null) {
            growth.addTo(document);
        }
        return document;
    }
}
