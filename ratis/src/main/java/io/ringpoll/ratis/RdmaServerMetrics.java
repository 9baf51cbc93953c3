package io.ringpoll.ratis;

import io.ringpoll.internal.transport.PeerCounters;
import io.ringpoll.internal.transport.TransportCounters;
import java.util.Locale;
import org.apache.ratis.metrics.MetricRegistryInfo;
import org.apache.ratis.metrics.RatisMetricRegistry;
import org.apache.ratis.metrics.RatisMetrics;

/**
 * Registers a server's counters, and those of each of its peers, with the engine's metrics registry, as gauges of the application
 * {@code ratis_rdma}.
 */
final class RdmaServerMetrics extends RatisMetrics {
    static final String APPLICATION = "ratis_rdma";
    static final String COMPONENT = "server";

    RdmaServerMetrics(final String serverId, final TransportCounters counters) {
        super(registry(serverId));
        for (final TransportCounters.Count count : TransportCounters.Count.values()) {
            getRegistry().gauge(count.name().toLowerCase(Locale.ROOT), () -> () -> counters.value(count));
        }
        counters.onPeer(this::add);
    }

    /** As in the engine's own metrics of followers, the name of a peer precedes that of its metric. */
    private void add(final String peer, final PeerCounters counters) {
        for (final PeerCounters.Figure figure : PeerCounters.Figure.values()) {
            getRegistry().gauge(peer + "_" + figure.name().toLowerCase(Locale.ROOT), () -> () -> counters.value(figure));
        }
    }

    private static RatisMetricRegistry registry(final String serverId) {
        return create(new MetricRegistryInfo(serverId, APPLICATION, COMPONENT, "Metrics for the RDMA transport of a server"));
    }
}
