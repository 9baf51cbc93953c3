package io.ringpoll.bench.suite;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.growth.GrowthReport;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.Goal;
import io.ringpoll.bench.measure.Goals;
import io.ringpoll.bench.measure.Verdict;
import io.ringpoll.bench.plot.RatioPlot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The results as one self-contained HTML file: table, plots and machine. */
final class HtmlReport {
    private static final String STYLE = """
        body { font: 15px/1.5 system-ui, sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #222 }
        table { border-collapse: collapse } td, th { padding: .2em .8em; border-bottom: 1px solid #ddd; text-align: right }
        td:first-child, th:first-child, td.t { text-align: left } .good { color: #17692f } .bad { color: #a32020 }
        svg, img { max-width: 100%; height: auto } pre { background: #f5f5f5; padding: 1em; overflow-x: auto }
        """;

    private HtmlReport() {
    }

    /** Writes report.html and the plot of ratios into a folder that contains the plots of the tools. */
    static void write(final ObjectNode root, final List<BenchResult> results, final Path folder) throws IOException {
        final StringBuilder html = new StringBuilder("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
            .append("<title>ringpoll bench</title><style>").append(STYLE).append("</style></head><body>\n")
            .append("<h1>ringpoll bench</h1>\n");
        html.append("<p>The ratio is our cost by the baseline's, measured in the same run: below 1 is better than the baseline. ")
            .append("The spread is the distance between the quartiles of the ratios of all runs.</p>\n");
        table(html, results);
        final List<BenchResult> others = results.stream().filter(result -> !GrowthReport.isGrowth(result)).toList();
        if (!others.isEmpty()) {
            final Path ratios = folder.resolve("ratios.svg");
            RatioPlot.draw("our cost / C's", againstC(others), ratios);
            html.append("<h2>Ratios</h2>\n").append(svg(ratios));
        }
        final List<Path> plots = plots(folder);
        if (!plots.isEmpty()) {
            html.append("<h2>Plots</h2>\n");
        }
        for (final Path plot : plots) {
            html.append("<p><img alt=\"").append(escape(plot.getFileName().toString()))
                .append("\" src=\"data:image/png;base64,")
                .append(Base64.getEncoder().encodeToString(Files.readAllBytes(plot))).append("\"></p>\n");
        }
        html.append("<h2>Machine</h2>\n<pre>").append(escape(root.path("machine").toPrettyString())).append("</pre>\n");
        html.append("</body></html>\n");
        Files.writeString(folder.resolve("report.html"), html);
    }

    private static void table(final StringBuilder html, final List<BenchResult> results) {
        html.append("<table><tr><th>measure</th><th>unit</th><th>ringpoll</th><th>baseline</th><th>which</th><th>ratio</th>")
            .append("<th>spread</th><th>runs</th><th>our cost</th><th>goal</th><th>verdict</th></tr>\n");
        for (final BenchResult result : results) {
            html.append(String.format(Locale.ROOT, "<tr><td>%s</td><td>%s</td><td>%,.2f</td><td>%,.2f</td><td class=\"t\">%s</td>"
                + "<td class=\"%s\">%s</td><td>%.3f</td><td>%d</td><td class=\"t\">%s</td>%s</tr>%n", escape(result.name()),
                result.unit(), result.ringpoll(), result.baseline(), escape(result.baselineName()), colour(result),
                result.ratioText(), result.spread(), result.runs(), result.difference(),
                Goals.of(result).map(goal -> goal(goal, result)).orElse("<td></td><td></td>")));
        }
        html.append("</table>\n");
    }

    private static String goal(final Goal goal, final BenchResult result) {
        final Verdict verdict = goal.verdict(result);
        final String colour = verdict == Verdict.MET ? "good" : verdict == Verdict.MISSED ? "bad" : "";
        return "<td>" + escape(goal.bound()) + "</td><td class=\"" + colour + "\">" + verdict + "</td>";
    }

    /** Only a difference that is shown has a colour. */
    private static String colour(final BenchResult result) {
        return switch (result.difference()) {
            case LOWER -> "good";
            case HIGHER -> "bad";
            default -> "";
        };
    }

    private static Map<String, Double> againstC(final List<BenchResult> results) {
        final Map<String, Double> ratios = new TreeMap<>();
        for (final BenchResult result : results) {
            if ("c".equals(result.baselineName())) {
                ratios.put(result.name(), result.ratio());
            }
        }
        if (ratios.isEmpty()) {
            results.forEach(result -> ratios.put(result.name() + " / " + result.baselineName(), result.ratio()));
        }
        return ratios;
    }

    /** The plots of growth, and those of the latency tool, one folder per run. */
    private static List<Path> plots(final Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder, 2)) {
            return files.filter(file -> file.toString().endsWith(".png")).sorted()
                .collect(Collectors.toList());
        }
    }

    /** An SVG drawing without the declarations of a stand-alone file. */
    private static String svg(final Path file) throws IOException {
        final String text = Files.readString(file);
        return text.substring(Math.max(0, text.indexOf("<svg"))) + "\n";
    }

    private static String escape(final String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
