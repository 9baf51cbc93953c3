package io.ringpoll.bench.change;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.jitter.CpuJitter;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * One round: the jitter of each CPU, and the latencies of a pipeline on these CPUs.
 *
 * @param cpus      lost time of each CPU
 * @param latencyNs time from due time to handler
 * @param fault     the reason why the latencies are not complete; empty if they are
 */
public record ChangeRound(List<LostTime> cpus, Histogram latencyNs, String fault) {
    private static final double NS_PER_US = 1_000;
    private static final double US_PER_SECOND = 1e6;

    /** Copies the list. */
    public ChangeRound {
        cpus = List.copyOf(cpus);
    }

    /**
     * The time that a spinning thread did not have its CPU.
     *
     * @param cpu       the CPU
     * @param share     the lost share of the window
     * @param longestNs the longest interruption; 0 if there was none
     */
    public record LostTime(int cpu, double share, long longestNs) {
        /** The lost time that the jitter meter has found. */
        static LostTime of(final CpuJitter jitter) {
            return new LostTime(jitter.cpu(), jitter.lostShare(),
                jitter.gaps().getTotalCount() == 0 ? 0 : jitter.gaps().getMaxValue());
        }
    }

    /** Whether the round has all its figures. */
    boolean isComplete() {
        return fault.isEmpty() && !cpus.isEmpty() && latencyNs.getTotalCount() > 0;
    }

    /** Microseconds that a CPU lost in a second: the mean of the CPUs. */
    double lostUsPerSecond() {
        return US_PER_SECOND * cpus.stream().mapToDouble(LostTime::share).average().orElse(Double.NaN);
    }

    /** The longest interruption of the CPUs, microseconds. */
    double longestUs() {
        return cpus.stream().mapToLong(LostTime::longestNs).max().orElse(0) / NS_PER_US;
    }

    /** The highest latency, microseconds. */
    double highestLatencyUs() {
        return latencyNs.getMaxValue() / NS_PER_US;
    }

    void addTo(final ObjectNode node) {
        final ArrayNode lost = node.putArray("lost");
        for (final LostTime each : cpus) {
            lost.addObject().put("cpu", each.cpu()).put("share", each.share()).put("longestNs", each.longestNs());
        }
        final ByteBuffer encoded = ByteBuffer.allocate(latencyNs.getNeededByteBufferCapacity());
        latencyNs.encodeIntoByteBuffer(encoded);
        encoded.flip();
        node.put("latencyNs", Base64.getEncoder().encodeToString(Arrays.copyOf(encoded.array(), encoded.limit())))
            .put("fault", fault);
    }

    /** A round in a file; throws IllegalArgumentException if it is none. */
    static ChangeRound of(final JsonNode node) {
        final List<LostTime> lost = new ArrayList<>();
        for (final JsonNode each : node.path("lost")) {
            final double share = each.path("share").asDouble(Double.NaN);
            if (!(share >= 0 && share <= 1) || each.path("longestNs").asLong(-1) < 0) {
                throw new IllegalArgumentException("the lost time of a CPU is not a share and a length");
            }
            lost.add(new LostTime(each.path("cpu").asInt(), share, each.path("longestNs").asLong()));
        }
        return new ChangeRound(lost, histogram(node.path("latencyNs").asText()), node.path("fault").asText());
    }

    private static Histogram histogram(final String text) {
        try {
            return Histogram.decodeFromByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(text)), 0);
        } catch (final RuntimeException damaged) {
            // The decoder has no exception of its own: it runs beyond the buffer, or out of the range of its arrays.
            throw new IllegalArgumentException("the latencies of a round are not a histogram", damaged);
        }
    }
}
