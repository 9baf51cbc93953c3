package io.ringpoll.bench.instructions;

import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The instructions of a unit of work.
 *
 * @param all    their number
 * @param places their number in each part of the program
 * @param code   their number in each compiled method and each library
 */
record InstructionCount(double all, Map<Place, Double> places, Map<String, Double> code) {
    /** Of a trace. */
    static InstructionCount of(final Steps steps, final double units, final CodeMap code) {
        if (units <= 0) {
            throw new IllegalStateException("the thread did no work in " + steps.total() + " instructions");
        }
        final Map<Place, Double> places = new EnumMap<>(Place.class);
        final Map<String, Double> names = new TreeMap<>();
        steps.byAddress().forEach((address, count) -> {
            places.merge(code.placeOf(address), count / units, Double::sum);
            names.merge(code.nameOf(address), count / units, Double::sum);
        });
        return new InstructionCount(steps.total() / units, places, names);
    }

    /** In one part of the program. */
    double in(final Place place) {
        return places.getOrDefault(place, 0.0);
    }
}
