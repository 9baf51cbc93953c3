package io.ringpoll.bench.replicate;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.ratis.RdmaConfigKeys;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A participant of a comparison.
 *
 * @param name       label in the table
 * @param transport  its transport
 * @param properties additional properties of the engine and the transport
 */
public record Contestant(String name, Transport transport, Map<String, String> properties) {
    /**
     * A transport with the default settings.
     *
     * @param transport  of the engine
     * @param properties of the engine and the transport
     * @return a contestant with the transport's name, and the binding if it is not librpma
     */
    public static Contestant of(final Transport transport, final Map<String, String> properties) {
        return new Contestant(
            transport == Transport.RINGPOLL ? name(properties, Map.of()) : transport.toString(), transport, properties);
    }

    /**
     * The library of the connections of {@link Transport#RINGPOLL}.
     *
     * @return librpma if the properties have no valid name: the transport reports those
     */
    RdmaApi api() {
        return RdmaApi.VERBS.toString().equals(properties.get(RdmaConfigKeys.API_KEY)) ? RdmaApi.VERBS : RdmaApi.RPMA;
    }

    /**
     * The libraries in the description of the device, for several contestants.
     *
     * @return verbs if ringpoll's connections are all made over them
     */
    static RdmaApi api(final List<Contestant> contestants) {
        final List<RdmaApi> used = contestants.stream().filter(each -> each.transport() == Transport.RINGPOLL)
            .map(Contestant::api).distinct().toList();
        return used.equals(List.of(RdmaApi.VERBS)) ? RdmaApi.VERBS : RdmaApi.RPMA;
    }

    /** As {@code ringpoll,api=verbs,shared=true}: the settings of all contestants count only if they change the binding. */
    private static String name(final Map<String, String> ofAll, final Map<String, String> variant) {
        final Map<String, String> named = new LinkedHashMap<>();
        if (RdmaApi.VERBS.toString().equals(ofAll.get(RdmaConfigKeys.API_KEY))) {
            named.put(RdmaConfigKeys.API_KEY, RdmaApi.VERBS.toString());
        }
        named.putAll(variant);
        final StringBuilder name = new StringBuilder(Transport.RINGPOLL.toString());
        named.forEach((key, value) ->
            name.append(',').append(key.substring(key.lastIndexOf('.') + 1)).append('=').append(value));
        return name.toString();
    }

    /**
     * Ringpoll and Netty, and between them ringpoll with each of the other settings.
     *
     * @param properties of all
     * @param variants   settings, each for one more contestant
     * @return in the order of the table
     */
    public static List<Contestant> compared(final Map<String, String> properties, final List<Map<String, String>> variants) {
        final List<Contestant> all = new ArrayList<>();
        all.add(of(Transport.RINGPOLL, properties));
        for (final Map<String, String> variant : variants) {
            final Map<String, String> changed = new TreeMap<>(properties);
            changed.putAll(variant);
            all.add(new Contestant(name(properties, variant), Transport.RINGPOLL, changed));
        }
        all.add(of(Transport.NETTY, properties));
        return all;
    }

    /**
     * Parses a group of settings.
     *
     * @param text as {@code KEY=VALUE,KEY=VALUE}
     * @return in the order of the text; null if it is invalid
     */
    public static Map<String, String> settings(final String text) {
        final Map<String, String> settings = new LinkedHashMap<>();
        for (final String setting : text.split(",", -1)) {
            final int equals = setting.indexOf('=');
            if (equals < 1 || settings.put(setting.substring(0, equals), setting.substring(equals + 1)) != null) {
                return null;
            }
        }
        return settings;
    }
}
