package io.ringpoll.cli.tuning;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.cli.options.Execution;
import io.ringpoll.internal.tuning.doctor.CheckResult;
import io.ringpoll.internal.tuning.doctor.Doctor;
import io.ringpoll.internal.tuning.doctor.Examined;
import io.ringpoll.internal.tuning.doctor.Finding;
import io.ringpoll.internal.tuning.doctor.Verdict;
import io.ringpoll.internal.tuning.topology.MachineDescription;
import io.ringpoll.internal.tuning.topology.Surroundings;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/** Formats the results of the doctor as text and as JSON. */
final class DoctorReport {
    private static final String INDENT = " ".repeat(13);
    /** The number of findings that a newcomer reads at a time. */
    private static final int SHOWN = 8;

    private final Examined examined;
    private final List<CheckResult> results;

    DoctorReport(final Examined examined, final List<CheckResult> results) {
        this.examined = examined;
        this.results = results;
    }

    /** Prints the most valuable findings, the others by name. */
    void print(final PrintWriter out) {
        head(out);
        final List<CheckResult> findings = Doctor.byValue(results);
        findings.stream().limit(SHOWN).forEach(result -> print(out, result));
        if (findings.size() > SHOWN) {
            out.println(findings.size() - SHOWN + " more, of less effect: " + String.join(", ",
                findings.stream().skip(SHOWN).map(result -> result.check().id()).toList()));
        }
        foot(out);
    }

    /** Prints all results in the order of the checks, each with its explanation. */
    void printAll(final PrintWriter out) {
        head(out);
        results.forEach(result -> print(out, result));
        foot(out);
    }

    private void head(final PrintWriter out) {
        // A text read from a machine may be of any length and have any characters.
        out.println(Execution.oneLine(MachineDescription.of(examined.files(), examined.topology()).line()));
        out.println("hot CPUs: " + examined.hot() + " (--cpus selects others)");
        final Surroundings surroundings = examined.surroundings();
        if (surroundings.kind() != Surroundings.Kind.SESSION) {
            out.println(Execution.oneLine("runs in " + surroundings.kind() + " (" + surroundings.evidence() + ")"));
        }
        out.println();
    }

    private static void print(final PrintWriter out, final CheckResult result) {
        final Finding finding = result.finding();
        out.printf(Locale.ROOT, "%-11s  %s: %s%n", finding.verdict(), result.check().subject(),
            Execution.oneLine(finding.reading()));
        out.println(INDENT + result.check().why());
        if (!finding.command().isEmpty()) {
            out.println(INDENT + "-> " + printable(finding.command()));
        }
    }

    /** A command is not shortened: its reader copies it. */
    private static String printable(final String command) {
        return command.replaceAll("\\p{Cntrl}", "?");
    }

    private void foot(final PrintWriter out) {
        out.println();
        out.printf(Locale.ROOT, "%d checks: %d ok, %d unknown, %d warning, %d bad%n", results.size(), count(Verdict.OK),
            count(Verdict.UNKNOWN), count(Verdict.WARNING), count(Verdict.BAD));
        out.println("all results: ./ringpoll doctor --verbose; their sources: docs/operations/doctor.md");
        out.println("next: ./ringpoll tune plan prints a CPU for each thread");
    }

    private long count(final Verdict verdict) {
        return results.stream().filter(result -> result.finding().verdict() == verdict).count();
    }

    String toJson() {
        final ObjectNode root = Json.object();
        Json.describe(root.putObject("machine"), MachineDescription.of(examined.files(), examined.topology()));
        root.put("hotCpus", examined.hot().toString());
        root.put("surroundings", examined.surroundings().kind().name().toLowerCase(Locale.ROOT));
        root.put("worst", Doctor.worst(results).toString());
        final ObjectNode counts = root.putObject("counts");
        for (final Verdict verdict : Verdict.values()) {
            counts.put(verdict.toString(), count(verdict));
        }
        final ArrayNode checks = root.putArray("checks");
        for (final CheckResult result : results) {
            checks.addObject().put("id", result.check().id()).put("subject", result.check().subject())
                .put("result", result.finding().verdict().toString()).put("effect", result.check().effect().toString())
                .put("reading", result.finding().reading())
                .put("why", result.check().why()).put("command", result.finding().command());
        }
        return Json.text(root);
    }
}
