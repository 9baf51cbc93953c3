package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.counters.Counter;
import io.ringpoll.counters.Counters;
import io.ringpoll.internal.poller.CounterType;
import io.ringpoll.poller.SyntheticQueue;
import io.ringpoll.testing.OpenMetricsParser;
import io.ringpoll.testing.OpenMetricsParser.Family;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Counters that a program reads from its own pipelines, and from JMX. */
@Timeout(60)
class PipelineCountersTest {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(50);
    private static final int COMPLETIONS = 300;

    private static PipelineBuilder described(final String name) {
        return Pipeline.builder().name(name).ringSize(512).withoutCountersFile()
            .onAll((wc, sequence, endOfBatch) -> { }, options -> options.name(name + "-all"));
    }

    private static long value(final Counters counters, final String name, final String attribute, final String value) {
        final List<Counter> found = counters.values().stream()
            .filter(counter -> counter.name().equals(name) && value.equals(counter.attributes().get(attribute))).toList();
        assertEquals(1, found.size(), name + " of " + value);
        return found.getFirst().value();
    }

    @Test
    void shouldReadAllCountersWithoutAFile() {
        final Counters before;
        final Counters closed;
        try (Pipeline pipeline = described("orders").queue(new SyntheticQueue("queue", COMPLETIONS)).start()) {
            final long startNs = System.nanoTime();
            while (pipeline.counters().sum("handled_completions") < COMPLETIONS) {
                assertTrue(System.nanoTime() - startNs < TIMEOUT_NS, "the completions do not arrive");
                Thread.onSpinWait();
            }
            assertTrue(pipeline.drain(TIMEOUT_NS).inTime());
            before = pipeline.counters();
            assertEquals(COMPLETIONS, value(before, "published_slots", "poller", "orders-poller"));
            assertEquals(COMPLETIONS, value(before, "passed_slots", "handler", "orders-all"));
            assertEquals(0, value(before, "lag_slots", "handler", "orders-all"));
            assertEquals(512, value(before, "ring_size_slots", "pipeline", "orders"));
            assertEquals(1, value(before, "handler_state", "handler", "orders-all"));
            pipeline.close(TIMEOUT_NS);
            closed = pipeline.counters();
        }
        // A snapshot stays as it was; a closed pipeline has its last values.
        assertEquals(1, value(before, "handler_state", "handler", "orders-all"));
        assertEquals(2, value(closed, "handler_state", "handler", "orders-all"));
        assertTrue(closed.takenNs() > before.takenNs());
        assertThrows(UnsupportedOperationException.class, () -> before.values().clear());
        assertThrows(UnsupportedOperationException.class, () -> before.values().getFirst().attributes().clear());
        assertThrows(IllegalArgumentException.class, () -> before.sum("polled"));
    }

    @Test
    void shouldKeepNamesThatAreNotAscii() {
        final String name = "commande\u00e9\u6ce8\ud83d\ude00";
        try (Pipeline pipeline = described(name).queue(new SyntheticQueue("queue", COMPLETIONS)).start()) {
            assertTrue(pipeline.drain(TIMEOUT_NS).inTime());
            final Counters counters = pipeline.counters();
            assertEquals(COMPLETIONS, value(counters, "published_slots", "poller", name + "-poller"));
            assertEquals(COMPLETIONS, value(counters, "passed_slots", "handler", name + "-all"));
            assertTrue(counters.values().stream().anyMatch(counter -> counter.label().startsWith(name + "-poller: ")));
            assertTrue(counters.toOpenMetrics().contains("poller=\"" + name + "-poller\""));
        }
        final String cut = "\u6ce8".repeat(100);
        try (Pipeline pipeline = described(cut).start()) {
            // 34 characters of 3 bytes fit into a key.
            assertEquals(0, value(pipeline.counters(), "published_slots", "poller", cut.substring(0, 34)));
        }
    }

    @Test
    void shouldHaveEveryTypeWithUniqueNameAndAttributes() {
        try (Pipeline pipeline = described("orders").start()) {
            final List<Counter> counters = pipeline.counters().values();
            final Set<String> names = counters.stream().map(Counter::name).collect(Collectors.toCollection(TreeSet::new));
            for (final CounterType type : CounterType.values()) {
                assertTrue(names.contains(type.metric()) != type.name().startsWith("SET_"), type.metric() + ", which sets have");
                assertTrue(type.metric().endsWith(type.unit()), type.metric());
            }
            final Set<List<Object>> keys = new HashSet<>();
            for (final Counter counter : counters) {
                assertTrue(keys.add(List.of(counter.name(), counter.attributes())), counter::toString);
                assertEquals("orders", counter.attributes().get("pipeline"));
            }
        }
    }

    @Test
    void shouldReadTheCountersOfAGroupAsOneText() {
        try (PipelineGroup group = PipelineGroup.start(2, i -> described("shard \"" + i + '"'))) {
            final Map<String, Family> families = OpenMetricsParser.parse(group.counters().toOpenMetrics());
            assertEquals(2, families.get("ringpoll_polls").samples().size());
            assertEquals(BigDecimal.valueOf(512), families.get("ringpoll_ring_size_slots").value("pipeline", "shard \"1\""));
            assertEquals("counter", families.get("ringpoll_ring_full_seconds").type());
            assertEquals("seconds", families.get("ringpoll_ring_full_seconds").unit());
            assertEquals("gauge", families.get("ringpoll_duty_cycle_max_seconds").type());
            assertEquals(1024, group.counters().sum("ring_size_slots"));
        }
    }

    @Test
    void shouldBeInJmxFromStartToCloseIfAsked() throws Exception {
        final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        final String quoted = "io.ringpoll:type=Pipeline,name=" + ObjectName.quote("a,b=\"c\"*");
        final ObjectName first = new ObjectName(quoted);
        final ObjectName second = new ObjectName(quoted + ",number=2");
        try (Pipeline pipeline = described("a,b=\"c\"*").exportToJmx().start()) {
            try (Pipeline same = described("a,b=\"c\"*").exportToJmx().start()) {
                assertTrue(server.isRegistered(second));
                same.close(TIMEOUT_NS);
                assertFalse(server.isRegistered(second));
            }
            assertEquals("RUNNING", server.getAttribute(first, "State"));
            assertEquals(0, ((String[]) server.getAttribute(first, "Errors")).length);
            final CompositeData[] counters = (CompositeData[]) server.getAttribute(first, "Counters");
            final Map<String, CompositeData> byName = Arrays.stream(counters)
                .collect(Collectors.toMap(counter -> (String) counter.get("name"), counter -> counter, (one, other) -> one));
            assertEquals(512L, byName.get("ring_size_slots").get("value"));
            assertEquals("GAUGE", byName.get("ring_size_slots").get("kind"));
            assertEquals("slots", byName.get("ring_size_slots").get("unit"));
            OpenMetricsParser.parse((String) server.invoke(first, "toOpenMetrics", new Object[0], new String[0]));
            pipeline.close(TIMEOUT_NS);
            assertFalse(server.isRegistered(first));
        }
    }

    @Test
    void shouldNotBeInJmxByDefaultNorAfterAFailedStart() throws Exception {
        final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        final ObjectName any = new ObjectName("io.ringpoll:type=Pipeline,*");
        try (Pipeline pipeline = described("quiet").start()) {
            assertEquals(Set.of(), server.queryNames(any, null));
        }
        final PipelineBuilder failing = described("failing").exportToJmx();
        assertThrows(RuntimeException.class, () -> failing.pollerCpu(100_000).start());
        assertEquals(Set.of(), server.queryNames(any, null));
    }
}
