package io.ringpoll.bench.measure;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.internal.rc.RdmaApi;
import java.util.List;

/** Results as JSON: {@code {"machine":{...},"results":[...],...}}. */
public final class JsonText {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final double DIGITS = 1e4;

    private JsonText() {
    }

    /**
     * Creates a document about librpma, or about no connection.
     *
     * @param results the figures
     * @return machine and results; more may be added
     */
    public static ObjectNode document(final List<BenchResult> results) {
        return document(RdmaApi.RPMA, results);
    }

    /**
     * Creates a document.
     *
     * @param api     what made the connections
     * @param results the figures
     * @return machine and results; more may be added
     */
    public static ObjectNode document(final RdmaApi api, final List<BenchResult> results) {
        final ObjectNode root = MAPPER.createObjectNode();
        root.set("machine", MachineReport.toJson(api));
        final ArrayNode array = root.putArray("results");
        for (final BenchResult result : results) {
            final ObjectNode node = array.addObject();
            node.put("name", result.name()).put("unit", result.unit()).put("ringpoll", rounded(result.ringpoll()))
                .put("baseline", rounded(result.baseline())).put("baselineName", result.baselineName())
                .put("ratio", rounded(result.ratio())).put("runs", result.runs()).put("spread", rounded(result.spread()))
                .put("ourCost", result.difference().toString());
            if (result.interval().isKnown()) {
                node.put("low", rounded(result.interval().low())).put("high", rounded(result.interval().high()));
            }
            node.put("excess", rounded(result.excess().value()));
            if (result.excess().interval().isKnown()) {
                node.put("excessLow", rounded(result.excess().interval().low()))
                    .put("excessHigh", rounded(result.excess().interval().high()));
            }
            Goals.of(result).ifPresent(goal -> node.put("goal", goal.bound()).put("verdict", goal.verdict(result).toString()));
        }
        return root;
    }

    /**
     * The text of a document.
     *
     * @param root the document
     * @return with line breaks
     */
    public static String of(final ObjectNode root) {
        try {
            return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(root);
        } catch (final JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static double rounded(final double value) {
        return Math.round(value * DIGITS) / DIGITS;
    }
}
