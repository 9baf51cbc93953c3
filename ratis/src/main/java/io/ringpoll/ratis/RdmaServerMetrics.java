package io.ringpoll.ratis;

import io.ringpoll.internal.transport.TransportCounters;
import java.util.Locale;
import org.apache.ratis.metrics.MetricRegistryInfo;
import org.apache.ratis.metrics.RatisMetricRegistry;
import org.apache.ratis.metrics.RatisMetrics;

/** Registers a server's counters with the engine's metrics registry, as gauges of the application {@code ratis_rdma}. */
final class RdmaServerMetrics extends RatisMetrics {
    static final String APPLICATION = "ratis_rdma";
    static final String COMPONENT = "server";

    RdmaServerMetrics(final String serverId, final TransportCounters counters) {
        super(registry(serverId));
        for (final TransportCounters.Count count : TransportCounters.Count.values()) {
            getRegistry().gauge(count.name().toLowerCase(Locale.ROOT), () -> () -> counters.value(count));
        }
    }

    private static RatisMetricRegistry registry(final String serverId) {
        return create(new MetricRegistryInfo(serverId, APPLICATION, COMPONENT, "Metrics for the RDMA transport of a server"));
    }
}
