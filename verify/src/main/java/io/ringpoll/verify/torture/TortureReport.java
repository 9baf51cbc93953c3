package io.ringpoll.verify.torture;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.rc.RdmaApi;
import java.io.PrintWriter;
import java.util.List;

/**
 * The result of a torture run.
 *
 * @param api            the binding that made the connections
 * @param device         the device; faults are injected on the loopback device only
 * @param firstSeed      seed of the first scene; each further one has the next
 * @param scenes         number of played scenes
 * @param workRequests   number of their work requests that have ended
 * @param faultsInjected number of faults injected in them
 * @param seconds        duration
 * @param failed         the failed scene, or null if there was none
 * @param violations     its violations, one line each
 */
public record TortureReport(
    RdmaApi api, DeviceKind device, long firstSeed, long scenes, long workRequests, long faultsInjected, double seconds,
    Scene failed, List<String> violations) {
    private static final int MOST_SHOWN = 12;

    /**
     * Whether all scenes passed.
     *
     * @return false if the last one failed
     */
    public boolean isSound() {
        return failed == null;
    }

    /** The command that plays the failed scene again. */
    String replay() {
        return "./ringpoll torture --api " + api + (device == DeviceKind.LOOPBACK ? "" : " --device " + device) + " --seed " +
            failed.seed() + " --scenes 1";
    }

    /**
     * Prints the report.
     *
     * @param out for people
     */
    public void print(final PrintWriter out) {
        out.printf("%,d scenes from seed %d, %,d work requests, %,d faults injected, %.1f s%n", scenes, firstSeed, workRequests,
            faultsInjected, seconds);
        if (isSound()) {
            out.println("each work request ended once, on its path, in order, as the model predicts");
        } else {
            violations.stream().limit(MOST_SHOWN).forEach(violation -> out.println("wrong: " + violation));
            if (violations.size() > MOST_SHOWN) {
                out.println("wrong: and " + (violations.size() - MOST_SHOWN) + " more");
            }
            out.println("scene: " + failed);
            out.println("replay: " + replay());
        }
        out.flush();
    }

    /**
     * The report as one JSON object.
     *
     * @return one line
     */
    public String toJson() {
        final ObjectMapper mapper = new ObjectMapper();
        final ObjectNode root = mapper.createObjectNode();
        root.put("api", api.toString()).put("device", device.toString()).put("firstSeed", firstSeed).put("scenes", scenes)
            .put("workRequests", workRequests).put("faultsInjected", faultsInjected)
            .put("seconds", Math.round(seconds * 10) / 10.0).put("sound", isSound());
        if (!isSound()) {
            root.put("failedSeed", failed.seed()).put("scene", failed.toString()).put("replay", replay());
            violations.forEach(root.putArray("violations")::add);
        }
        try {
            return mapper.writeValueAsString(root);
        } catch (final JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
