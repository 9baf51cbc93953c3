package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.internal.transport.TransportCounters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.ratis.metrics.MetricRegistries;
import org.apache.ratis.metrics.impl.RatisMetricRegistryImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RdmaServerMetricsTest {
    private static final String SERVER = "metrics-server";
    private static final Path PAGE = Path.of("..", "docs", "ratis.md");
    /** Rows of the table: a name in the first column. */
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([\\w<>]+)` \\|");

    private static Set<String> registered() {
        final RatisMetricRegistryImpl registry = (RatisMetricRegistryImpl) MetricRegistries.global().getMetricRegistries()
            .stream().filter(each -> each.getMetricRegistryInfo().getPrefix().equals(SERVER)).findAny().orElseThrow();
        return registry.getGauges((name, metric) -> true).keySet().stream()
            .map(name -> name.substring(name.lastIndexOf('.') + 1)).collect(Collectors.toSet());
    }

    @Test
    void shouldHaveTheNamesOfThePage() throws Exception {
        final TransportCounters counters = new TransportCounters();
        final RdmaServerMetrics metrics = new RdmaServerMetrics(SERVER, counters);
        try {
            final Set<String> own = registered();
            counters.peer("PEER");
            final Set<String> all = new TreeSet<>();
            registered().forEach(name -> all.add(own.contains(name) ? name : name.replace("PEER_", "<peer>_")));
            final String page = Files.readString(PAGE);
            final String section = page.substring(page.indexOf("## Metrics"), page.indexOf("## Security"));
            assertEquals(all, ROW.matcher(section).results().map(row -> row.group(1))
                .collect(Collectors.toCollection(TreeSet::new)));
        } finally {
            metrics.unregister();
        }
    }
}
