package io.ringpoll.mutation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The accepted survivors of one module. In the file, one or more keys are followed by their common reason, indented:
 *
 * <pre>
 * poller.QueueRound.remove: changed conditional boundary: for (int i = 0; i &lt; count; i++) {
 *     equivalent: the entry after the last is null.
 * </pre>
 *
 * <p>The first word of the reason selects the {@link Kind}.
 */
final class KnownSurvivors {
    /** The reason for which a survivor is accepted. */
    enum Kind {
        /** Behaves like the original: not counted. */
        EQUIVALENT,
        /** No test reliably detects the difference: counted as survived, whether or not one run kills it. */
        UNPROVOKED
    }

    private static final String INDENT = "    ";

    private final Map<String, Kind> kinds = new LinkedHashMap<>();

    static KnownSurvivors read(final Path file) throws IOException {
        final KnownSurvivors survivors = new KnownSurvivors();
        if (Files.exists(file)) {
            survivors.parse(Files.readAllLines(file), file);
        }
        return survivors;
    }

    private void parse(final List<String> lines, final Path file) {
        final List<String> waiting = new ArrayList<>();
        for (final String line : lines) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            if (!line.startsWith(INDENT)) {
                waiting.add(line);
            } else if (!waiting.isEmpty()) {
                final Kind kind = kind(line, file);
                for (final String key : waiting) {
                    if (kinds.put(key, kind) != null) {
                        throw new IllegalArgumentException(file + ": twice: " + key);
                    }
                }
                waiting.clear();
            }
        }
        if (!waiting.isEmpty()) {
            throw new IllegalArgumentException(file + ": no reason for " + waiting.getFirst());
        }
    }

    private static Kind kind(final String line, final Path file) {
        for (final Kind kind : Kind.values()) {
            if (line.strip().startsWith(kind.name().toLowerCase(java.util.Locale.ROOT) + ": ")) {
                return kind;
            }
        }
        throw new IllegalArgumentException(file + ": a reason begins with 'equivalent: ' or 'unprovoked: ', not with '" +
            line.strip() + "'");
    }

    /** Null for a mutant that is not accepted. */
    Kind kind(final String key) {
        return kinds.get(key);
    }

    Set<String> keys() {
        return kinds.keySet();
    }
}
