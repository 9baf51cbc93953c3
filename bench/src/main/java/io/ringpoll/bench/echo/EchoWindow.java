package io.ringpoll.bench.echo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.measure.AllocationWatch;
import io.ringpoll.bench.measure.CpuLoss;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * The result of one turn of an echo contestant.
 *
 * @param round          its round; those of a fork follow those of the fork before
 * @param scale          number of connections
 * @param mode           its traffic
 * @param subject        the contestant
 * @param nsPerMessage   time of a message with its answer; infinite if there was none
 * @param roundTripNs    p50, p90 and p99 of the recorded round trips; empty if there were none
 * @param allocatedBytes bytes that its Java threads allocated for each message with its answer; NaN if that is not known
 * @param loss           CPU time that its threads lost
 * @param fault          reason why it is invalid; empty if it is valid
 */
record EchoWindow(int round, EchoScale scale, EchoMode mode, EchoSubject subject, double nsPerMessage, List<Double> roundTripNs,
                  double allocatedBytes, CpuLoss loss, String fault) {
    /** The names of the percentiles. */
    static final List<String> PERCENTILES = List.of("p50", "p90", "p99");

    /** As for hand-offs: a window with a higher loss measures the machine and not the program. */
    private static final double LOST_SHARE = 0.10;

    EchoWindow {
        roundTripNs = List.copyOf(roundTripNs);
    }

    /** The percentiles of recorded round trips. */
    static List<Double> percentiles(final Histogram roundTripNs) {
        return roundTripNs.getTotalCount() == 0 ? List.of() : PERCENTILES.stream()
            .map(name -> (double) roundTripNs.getValueAtPercentile(Double.parseDouble(name.substring(1)))).toList();
    }

    /** Whether it is valid. */
    boolean counts() {
        return fault.isEmpty() && Double.isFinite(nsPerMessage) && loss.lostShare() < LOST_SHARE &&
            (mode == EchoMode.THROUGHPUT || !roundTripNs.isEmpty());
    }

    /** Adds it to a JSON object, and returns that. */
    ObjectNode addTo(final ObjectNode node) {
        node.put("round", round).put("connections", scale.connections())
            .put("inFlight", mode == EchoMode.PING_PONG ? 1 : scale.inFlight()).put("mode", mode.label())
            .put("contestant", subject.label()).put("turnNs", loss.windowNs()).put("runDelayNs", loss.runDelayNs())
            .put("stealNs", loss.stealNs()).put("switches", loss.involuntarySwitches()).put("counts", counts());
        if (Double.isFinite(nsPerMessage)) {
            node.put("nsPerMessage", nsPerMessage);
        }
        for (int i = 0; i < roundTripNs.size(); i++) {
            node.put(PERCENTILES.get(i) + "Ns", roundTripNs.get(i));
        }
        if (!Double.isNaN(allocatedBytes)) {
            node.put("allocatedBytes", allocatedBytes);
        }
        if (!fault.isEmpty()) {
            node.put("fault", fault);
        }
        return node;
    }

    /** Reads the object of {@link #addTo}. */
    static EchoWindow of(final JsonNode node, final EchoConfig config) {
        final int connections = node.path("connections").asInt();
        final List<Double> roundTripNs = new ArrayList<>();
        for (final String name : PERCENTILES) {
            if (node.has(name + "Ns")) {
                roundTripNs.add(node.path(name + "Ns").asDouble());
            }
        }
        return new EchoWindow(node.path("round").asInt(),
            config.scales().stream().filter(scale -> scale.connections() == connections).findFirst().orElseThrow(),
            Arrays.stream(EchoMode.values()).filter(mode -> mode.label().equals(node.path("mode").asText())).findFirst()
                .orElseThrow(),
            Arrays.stream(EchoSubject.values()).filter(subject -> subject.label().equals(node.path("contestant").asText()))
                .findFirst().orElseThrow(),
            node.path("nsPerMessage").asDouble(Double.POSITIVE_INFINITY), roundTripNs,
            node.path("allocatedBytes").asDouble(AllocationWatch.UNKNOWN),
            new CpuLoss(node.path("turnNs").asLong(), node.path("runDelayNs").asLong(), node.path("stealNs").asLong(),
                node.path("switches").asLong()), node.path("fault").asText());
    }
}
