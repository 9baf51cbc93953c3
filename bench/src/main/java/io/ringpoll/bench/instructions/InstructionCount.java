package io.ringpoll.bench.instructions;

import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The instructions of a unit of work.
 *
 * @param all         their number
 * @param places      their number in each part of the program
 * @param code        their number in each compiled method and each library
 * @param steadyShare the share of them in code of the steady state, see {@link CodeMap#isSteady}
 */
record InstructionCount(double all, Map<Place, Double> places, Map<String, Double> code, double steadyShare) {
    /** Of a trace with work. */
    static InstructionCount of(final Steps steps, final CodeMap code) {
        final Map<Place, Double> places = new EnumMap<>(Place.class);
        final Map<String, Double> names = new TreeMap<>();
        long notSteady = 0;
        for (final Map.Entry<Long, Long> arrivals : steps.byAddress().entrySet()) {
            final double count = arrivals.getValue() / steps.units();
            places.merge(code.placeOf(arrivals.getKey()), count, Double::sum);
            names.merge(code.nameOf(arrivals.getKey()), count, Double::sum);
            notSteady += code.isSteady(arrivals.getKey()) ? 0 : arrivals.getValue();
        }
        return new InstructionCount(steps.total() / steps.units(), places, names, 1 - (double) notSteady / steps.total());
    }

    /** The instructions in one part of the program. */
    double in(final Place place) {
        return places.getOrDefault(place, 0.0);
    }
}
