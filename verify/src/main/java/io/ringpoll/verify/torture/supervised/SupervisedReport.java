package io.ringpoll.verify.torture.supervised;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.internal.rc.RdmaApi;
import java.io.PrintWriter;
import java.util.List;

/**
 * The result of a torture in child processes.
 *
 * @param scenesOf      what was played
 * @param api           the binding that made the connections
 * @param firstSeed     seed of the first scene; each further one has the next
 * @param scenes        passed scenes
 * @param operations    their {@link SupervisedScene#operations()}
 * @param events        their {@link SupervisedScene#events()}
 * @param playedSeconds duration of the scenes
 * @param seconds       duration with the start of the child JVMs
 * @param last          the last child JVM: the failed one, if there was a failure
 */
public record SupervisedReport(SceneKind scenesOf, RdmaApi api, long firstSeed, long scenes, long operations, long events,
    double playedSeconds, double seconds, SceneJvm last) {
    private static final int MOST_SHOWN = 12;

    /**
     * Whether all scenes passed.
     *
     * @return false if the last one failed
     */
    public boolean isSound() {
        return violations().isEmpty();
    }

    private List<String> violations() {
        return last == null ? List.of() : last.violations();
    }

    /** The command that plays the failed scene again. */
    private String replay() {
        return "./ringpoll torture " + scenesOf.option() + " --api " + api + " --seed " + last.lastSeed() +
            " --scenes 1 --jvm " + last.kind();
    }

    /**
     * Prints the report.
     *
     * @param out for people
     */
    public void print(final PrintWriter out) {
        out.printf("%,d scenes from seed %d, %,d %s, %,d %s, %.1f s of %.1f s with the start of the child processes%n", scenes,
            firstSeed, operations, scenesOf.operations(), events, scenesOf.events(), playedSeconds, seconds);
        if (isSound()) {
            out.println(scenesOf.verdict());
        } else {
            last.lastLines().forEach(out::println);
            violations().stream().limit(MOST_SHOWN).forEach(violation -> out.println("wrong: " + violation));
            if (violations().size() > MOST_SHOWN) {
                out.println("wrong: and " + (violations().size() - MOST_SHOWN) + " more");
            }
            out.println("scene: seed " + last.lastSeed() + ": " + last.lastScene());
            out.println("replay: " + replay());
        }
        out.flush();
    }

    private static double tenths(final double value) {
        return Math.round(value * 10) / 10.0;
    }

    /**
     * The report as one JSON object.
     *
     * @return one line
     */
    public String toJson() {
        final ObjectMapper mapper = new ObjectMapper();
        final ObjectNode root = mapper.createObjectNode();
        root.put("api", api.toString()).put("firstSeed", firstSeed).put("scenes", scenes).put(scenesOf.operations(), operations)
            .put(scenesOf.events(), events)
            .put("playedSeconds", tenths(playedSeconds)).put("seconds", tenths(seconds)).put("sound", isSound());
        if (!isSound()) {
            root.put("failedSeed", last.lastSeed()).put("scene", last.lastScene()).put("replay", replay());
            violations().forEach(root.putArray("violations")::add);
        }
        try {
            return mapper.writeValueAsString(root);
        } catch (final JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
