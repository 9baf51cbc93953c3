package io.ringpoll.bench.measure;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;

/**
 * The turns of a measurement.
 *
 * @param planned turns without repetitions
 * @param taken   all turns
 * @param dropped the turns that do not count
 */
public record TurnCount(int planned, int taken, int dropped) {
    /**
     * Reads the turns of a document.
     *
     * @param document of a tool
     * @return the object that is its field {@code turns}; empty if it has none
     */
    public static Optional<TurnCount> of(final JsonNode document) {
        final JsonNode node = document.path("turns");
        return node.isObject() ? Optional.of(new TurnCount(
            node.path("planned").asInt(), node.path("taken").asInt(), node.path("dropped").asInt())) : Optional.empty();
    }

    /**
     * Adds the turns to a JSON object.
     *
     * @param turns its field {@code turns}
     */
    public void addTo(final ObjectNode turns) {
        turns.put("planned", planned).put("taken", taken).put("dropped", dropped);
    }

    /** One line for people. */
    @Override
    public String toString() {
        final int missing = planned - (taken - dropped);
        return taken + " turns, " + (dropped == 0 ? "none" : dropped) + " dropped because a thread lost its CPU" +
            (missing == 0 ? "" : ", " + missing + " of the " + planned + " planned ones missing");
    }
}
