package io.ringpoll.bench.change;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.pipeline.WaitMode;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The settings of a measurement before or after a change. Both have the same.
 *
 * @param poller    CPU of the poller
 * @param handler   CPU of the handler; the threads that measure jitter are pinned to these CPUs too
 * @param waitMode    wait mode of poller and handler
 * @param numaNode  the only NUMA node of the memory, or {@value #ANY_NODE}
 * @param rounds    number of rounds
 * @param windowMs  length of the two windows of a round, one of jitter and one of latency
 * @param perSecond completions per second
 */
public record ChangeSettings(int poller, int handler, WaitMode waitMode, int numaNode, int rounds, int windowMs, long perSecond) {
    /** No NUMA node was requested. */
    public static final int ANY_NODE = -1;
    /** The highest number of rounds. */
    public static final int MOST_ROUNDS = 10_000;
    /** The longest window. */
    public static final int LONGEST_WINDOW_MS = 60_000;
    /** The highest rate. */
    public static final long HIGHEST_RATE = 10_000_000;
    private static final int HIGHEST_CPU = 8191;

    /** Checks the ranges. */
    public ChangeSettings {
        require(isCpu(poller) && isCpu(handler), "the CPUs are not numbers of CPUs");
        require(numaNode >= ANY_NODE, "the NUMA node is negative");
        require(rounds >= 1 && rounds <= MOST_ROUNDS, "the rounds are not 1 to " + MOST_ROUNDS);
        require(windowMs >= 1 && windowMs <= LONGEST_WINDOW_MS, "the window is not 1 to " + LONGEST_WINDOW_MS + " ms");
        require(perSecond >= 1 && perSecond <= HIGHEST_RATE, "the rate is not 1 to " + HIGHEST_RATE);
    }

    private static boolean isCpu(final int number) {
        return number >= 0 && number <= HIGHEST_CPU;
    }

    private static void require(final boolean holds, final String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    /** The settings in a file; throws IllegalArgumentException if there are none. */
    static ChangeSettings of(final JsonNode node) {
        final String wait = node.path("wait").asText();
        final WaitMode waitMode = Arrays.stream(WaitMode.values()).filter(mode -> mode.option().equals(wait))
            .findFirst().orElseThrow(() -> new IllegalArgumentException("the wait mode is missing"));
        return new ChangeSettings(node.path("pollerCpu").asInt(-1), node.path("handlerCpu").asInt(-1), waitMode,
            node.path("numaNode").asInt(ANY_NODE), node.path("rounds").asInt(), node.path("windowMs").asInt(),
            node.path("perSecond").asLong());
    }

    void addTo(final ObjectNode node) {
        node.put("pollerCpu", poller).put("handlerCpu", handler).put("wait", waitMode.option()).put("numaNode", numaNode)
            .put("rounds", rounds).put("windowMs", windowMs).put("perSecond", perSecond);
    }

    /**
     * The CPUs of poller and handler.
     *
     * @return two, which may be the same
     */
    public HotCpus cpus() {
        return new HotCpus(poller, List.of(handler));
    }

    CpuSet cpuSet() {
        return CpuSet.of(poller).or(CpuSet.of(handler));
    }

    /**
     * The first difference to other settings.
     *
     * @param other the settings of another measurement
     * @return for instance {@code "15 rounds, not 20"}; empty if they are equal
     */
    public Optional<String> differenceTo(final ChangeSettings other) {
        if (poller != other.poller || handler != other.handler) {
            return Optional.of("on CPUs " + poller + "," + handler + ", not " + other.poller + "," + other.handler + " (--pin)");
        }
        if (waitMode != other.waitMode) {
            return Optional.of("with " + waitMode.option() + ", not " + other.waitMode.option() + " (--wait)");
        }
        if (numaNode != other.numaNode) {
            return Optional.of("with memory of " + node(numaNode) + ", not of " + node(other.numaNode) + " (--numa-node)");
        }
        if (rounds != other.rounds) {
            return Optional.of("with " + rounds + " rounds, not " + other.rounds + " (--rounds)");
        }
        if (windowMs != other.windowMs) {
            return Optional.of("in windows of " + windowMs + " ms, not " + other.windowMs + " (--window)");
        }
        return perSecond == other.perSecond ? Optional.empty() :
            Optional.of("at " + perSecond + " completions a second, not " + other.perSecond + " (--rate)");
    }

    private static String node(final int number) {
        return number == ANY_NODE ? "any node" : "node " + number;
    }

    @Override
    public String toString() {
        return rounds + " rounds of " + windowMs + " ms of jitter and of latency; " + cpus() + "; waiting by " + waitMode.option()
            + "; " + perSecond + " completions a second";
    }
}
