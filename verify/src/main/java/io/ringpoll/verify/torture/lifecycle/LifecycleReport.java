package io.ringpoll.verify.torture.lifecycle;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.util.List;

/**
 * The result of a life-cycle torture.
 *
 * @param firstSeed     seed of the first scene; each further one has the next
 * @param scenes        passed scenes
 * @param calls         calls that operators made in them
 * @param completions   completions received in them
 * @param playedSeconds duration of the scenes
 * @param seconds       duration with the start of the child JVMs
 * @param last          the last child JVM: the failed one, if there was a failure
 */
public record LifecycleReport(
    long firstSeed, long scenes, long calls, long completions, double playedSeconds, double seconds, SceneJvm last) {
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
        return "./ringpoll torture --lifecycle --seed " + last.lastSeed() + " --scenes 1 --jvm " + last.kind();
    }

    /**
     * Prints the report.
     *
     * @param out for people
     */
    public void print(final PrintWriter out) {
        out.printf(
            "%,d scenes from seed %d, %,d calls, %,d completions, %.1f s of %.1f s with the start of the child processes%n",
            scenes, firstSeed, calls, completions, playedSeconds, seconds);
        if (isSound()) {
            out.println("no crash, no hang, no leak, each completion once, each report as the model predicts");
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
        root.put("firstSeed", firstSeed).put("scenes", scenes).put("calls", calls).put("completions", completions)
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
