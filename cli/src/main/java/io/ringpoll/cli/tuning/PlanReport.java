package io.ringpoll.cli.tuning;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.cli.options.Execution;
import io.ringpoll.internal.tuning.plan.AffinityPlan;
import io.ringpoll.internal.tuning.plan.PlanSettings;
import io.ringpoll.internal.tuning.plan.PlannedThread;
import io.ringpoll.internal.tuning.topology.MachineDescription;
import io.ringpoll.internal.tuning.topology.Topology;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/** Formats an affinity plan as text and as JSON. */
final class PlanReport {
    private final MachineDescription machine;
    private final AffinityPlan plan;
    private final PlanSettings settings;

    PlanReport(final MachineDescription machine, final Topology topology, final AffinityPlan plan) {
        this.machine = machine;
        this.plan = plan;
        settings = new PlanSettings(topology, plan);
    }

    void print(final PrintWriter out) {
        out.println(Execution.oneLine(machine.line()));
        plan.facts().forEach(fact -> out.println(fact.replaceAll("\\p{Cntrl}", "?")));
        out.println();
        final int width =
            Math.max(9, plan.threads().stream().mapToInt(planned -> planned.role().name().length()).max().orElse(0));
        out.printf(Locale.ROOT, "%-" + width + "s  %5s  %-9s  %s%n", "thread", "CPU", "wait", "why");
        for (final PlannedThread planned : plan.threads()) {
            out.printf(Locale.ROOT, "%-" + width + "s  %5s  %-9s  %s%n", planned.role().name(),
                planned.cpu().isPresent() ? Integer.toString(planned.cpu().getAsInt()) : "any", planned.waitMode().option(),
                planned.reason());
        }
        out.println();
        out.println("auxiliary threads (collector, compiler, flight recorder): " + plan.auxiliary().named());
        if (!plan.idle().isEmpty()) {
            out.println("leave idle (SMT siblings of pinned threads): " + plan.idle().named());
        }
        list(out, "given up:", plan.givenUp());
        list(out, "run it, hot threads pinned:", List.of(settings.run()));
        list(out, "the same with auxiliary threads kept off the hot CPUs:", settings.confined());
        list(out, "as a systemd service:", settings.systemd());
        list(out, "as a container:", settings.container());
        list(out, "in Java:", settings.builder());
        list(out, "to make it quieter:", settings.preparations());
        list(out, "to isolate these CPUs at once, until the partition is removed:", settings.partition());
    }

    private static void list(final PrintWriter out, final String heading, final List<String> lines) {
        if (!lines.isEmpty()) {
            out.println();
            out.println(heading);
            lines.forEach(line -> out.println("    " + line));
        }
    }

    String toJson() {
        final ObjectNode root = Json.object();
        Json.describe(root.putObject("machine"), machine);
        root.put("node", plan.node()).put("device", plan.device().orElse(null));
        final ArrayNode threads = root.putArray("threads");
        for (final PlannedThread planned : plan.threads()) {
            final ObjectNode thread = threads.addObject();
            thread.put("name", planned.role().name()).put("kind", planned.role().kind().name().toLowerCase(Locale.ROOT));
            planned.cpu().ifPresentOrElse(cpu -> thread.put("cpu", cpu), () -> thread.putNull("cpu"));
            thread.put("wait", planned.waitMode().option()).put("why", planned.reason());
        }
        root.put("auxiliaryCpus", plan.auxiliary().toString()).put("idleCpus", plan.idle().toString());
        put(root.putArray("facts"), plan.facts());
        put(root.putArray("givenUp"), plan.givenUp());
        root.put("pin", plan.pinOption()).put("run", settings.run());
        put(root.putArray("confined"), settings.confined());
        put(root.putArray("systemd"), settings.systemd());
        put(root.putArray("container"), settings.container());
        put(root.putArray("java"), settings.builder());
        put(root.putArray("preparations"), settings.preparations());
        put(root.putArray("partition"), settings.partition());
        return Json.text(root);
    }

    private static void put(final ArrayNode array, final List<String> lines) {
        lines.forEach(array::add);
    }
}
