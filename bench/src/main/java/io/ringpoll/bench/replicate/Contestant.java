package io.ringpoll.bench.replicate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Who takes part in a comparison.
 *
 * @param name       in the table
 * @param transport  that it runs over
 * @param properties of the engine and the transport, as they are set besides
 */
record Contestant(String name, Transport transport, Map<String, String> properties) {
    /** A transport as it is set for all. */
    static Contestant of(final Transport transport, final Map<String, String> properties) {
        return new Contestant(transport.toString(), transport, properties);
    }

    /** Ringpoll and Netty, and between them ringpoll with each of the other settings, one at a time. */
    static List<Contestant> compared(final Map<String, String> properties, final Map<String, String> variants) {
        final List<Contestant> all = new ArrayList<>();
        all.add(of(Transport.RINGPOLL, properties));
        new TreeMap<>(variants).forEach((key, value) -> {
            final Map<String, String> changed = new TreeMap<>(properties);
            changed.put(key, value);
            final String shortKey = key.substring(key.lastIndexOf('.') + 1);
            all.add(new Contestant(Transport.RINGPOLL + "," + shortKey + "=" + value, Transport.RINGPOLL, changed));
        });
        all.add(of(Transport.NETTY, properties));
        return all;
    }
}
