package io.ringpoll.bench.instructions;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintWriter;
import java.util.Locale;

/** The instructions by part of the program, as a table. */
public final class InstructionTable {
    private InstructionTable() {
    }

    /**
     * Prints the table; nothing if there are no rows.
     *
     * @param rows the {@code instructions} of the tool's documents
     * @param out  text output
     */
    public static void print(final JsonNode rows, final PrintWriter out) {
        if (rows.isEmpty()) {
            return;
        }
        out.printf("%n%-26s %-14s %-10s %9s", "instructions", "of a", "", "all");
        for (final Place place : Place.values()) {
            out.printf(" %9s", place.label());
        }
        out.println();
        for (final JsonNode row : rows) {
            out.printf(Locale.ROOT, "%-26s %-14s %-10s %,9.1f", row.path("name").asText(), row.path("unit").asText(),
                row.path("contestant").asText(), row.path("all").asDouble());
            for (final Place place : Place.values()) {
                out.printf(Locale.ROOT, " %,9.1f", row.path(place.label()).asDouble());
            }
            out.println();
        }
        out.println("jvm: stubs of calls into C; baseline: the code of the C baseline; device: the loopback device");
    }
}
