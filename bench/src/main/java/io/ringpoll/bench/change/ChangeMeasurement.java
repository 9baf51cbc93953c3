package io.ringpoll.bench.change;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.measure.JsonText;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The rounds before or after a change, with their settings and the state of the machine; as text, so that the other half can be
 * measured later, for instance after a reboot.
 *
 * @param settings    settings
 * @param environment state of the machine
 * @param rounds      the rounds
 */
public record ChangeMeasurement(ChangeSettings settings, ChangeEnvironment environment, List<ChangeRound> rounds) {
    private static final String FORMAT = "ringpoll tune verify 1";

    /** Copies the list. */
    public ChangeMeasurement {
        rounds = List.copyOf(rounds);
    }

    /**
     * The measurement as the text of a file.
     *
     * @return JSON
     */
    public String toJson() {
        final ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.put("format", FORMAT);
        settings.addTo(root.putObject("settings"));
        root.set("environment", environment.root());
        final ArrayNode array = root.putArray("measured");
        rounds.forEach(round -> round.addTo(array.addObject()));
        return JsonText.of(root);
    }

    /**
     * Reads the text of a file.
     *
     * @param text as of {@link #toJson}
     * @return the measurement
     * @throws IllegalArgumentException if the text is not that of a measurement; the message is one line
     */
    public static ChangeMeasurement parse(final String text) {
        final JsonNode root;
        try {
            root = new ObjectMapper().readTree(text);
        } catch (final JsonProcessingException notJson) {
            throw new IllegalArgumentException("is not JSON", notJson);
        }
        if (!FORMAT.equals(root.path("format").asText())) {
            throw new IllegalArgumentException("is no measurement of 'tune verify' in the format of this version");
        }
        if (!(root.path("environment") instanceof final ObjectNode environment)) {
            throw new IllegalArgumentException("is damaged: the state of the machine is missing");
        }
        try {
            final List<ChangeRound> rounds = new ArrayList<>();
            for (final JsonNode round : root.path("measured")) {
                rounds.add(ChangeRound.of(round));
            }
            final ChangeSettings settings = ChangeSettings.of(root.path("settings"));
            if (rounds.size() != settings.rounds()) {
                throw new IllegalArgumentException("it has " + rounds.size() + " rounds instead of " + settings.rounds());
            }
            return new ChangeMeasurement(settings, new ChangeEnvironment(environment), rounds);
        } catch (final IllegalArgumentException damaged) {
            throw new IllegalArgumentException("is damaged: " + damaged.getMessage(), damaged);
        }
    }

    /**
     * The reason why this measurement, of the time before a change, cannot be compared with a later one.
     *
     * @param later settings of the later measurement
     * @param state state of the machine at the later measurement
     * @return empty if it can
     */
    public Optional<String> incomparableWith(final ChangeSettings later, final ChangeEnvironment state) {
        return settings.differenceTo(later).or(() -> state.incomparableTo(environment)).map(reason -> "was measured " + reason);
    }
}
