package io.ringpoll.bench.suite;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A benchmark method with its parameters.
 *
 * @param benchmark its class
 * @param method    its name
 * @param params    one value each
 */
record Variant(Class<?> benchmark, String method, Map<String, String> params) {
    Variant {
        params = Map.copyOf(params);
    }

    static Variant of(final Class<?> benchmark, final String method, final Map<String, String> params) {
        return new Variant(benchmark, method, params);
    }

    /** The JMH include pattern: exactly this method. */
    String pattern() {
        return "^" + benchmark.getName().replace(".", "\\.") + "\\." + method + "$";
    }

    /** Its method and parameters, for progress messages. */
    @Override
    public String toString() {
        return new TreeMap<>(params).values().stream().map(value -> " " + value).collect(Collectors.joining("", method, ""));
    }
}
