package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.poller.SyntheticQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class PipelineEventsTest {
    private static final long STALL_NS = TimeUnit.MILLISECONDS.toNanos(10);

    @Test
    void shouldRecordStallFaultExceptionStartAndStop(@TempDir final Path folder) throws IOException {
        final ScriptedQueue failing = new ScriptedQueue("failing");
        failing.failWith(-9);
        final Path file = folder.resolve("recording.jfr");
        final AtomicReference<Pipeline> self = new AtomicReference<>();
        try (Recording recording = new Recording()) {
            recording.enable("ringpoll.RingStall").withoutThreshold();
            recording.enable("ringpoll.QueueFault");
            recording.enable("ringpoll.HandlerException");
            recording.enable("ringpoll.Pipeline");
            recording.start();
            try (Pipeline pipeline = Pipeline.builder()
                    .name("recorded")
                    .ringSize(16)
                    .onAll((wc, sequence, endOfBatch) -> {
                        if (wc.workRequestId() == 50) {
                            awaitStall(self);
                            throw new IllegalStateException("provoked");
                        }
                    })
                    .queue(new SyntheticQueue("queue", 200))
                    .queue(failing)
                    .start()) {
                self.set(pipeline);
                assertTrue(pipeline.drain(TimeUnit.SECONDS.toNanos(50)).inTime());
            }
            recording.dump(file);
        }
        final List<RecordedEvent> events = RecordingFile.readAllEvents(file);
        assertEquals(
            List.of("started", "stopped"),
            of(events, "ringpoll.Pipeline").stream().map(event -> event.getString("state")).toList());
        final RecordedEvent fault = of(events, "ringpoll.QueueFault").getFirst();
        assertEquals("failing", fault.getString("queue"));
        assertEquals(-9, fault.getInt("code"));
        final RecordedEvent exception = of(events, "ringpoll.HandlerException").getFirst();
        assertEquals("recorded-all", exception.getString("handler"));
        assertEquals("java.lang.IllegalStateException: provoked", exception.getString("exception"));
        final RecordedEvent longest = of(events, "ringpoll.RingStall").stream()
            .max((a, b) -> a.getDuration().compareTo(b.getDuration())).orElseThrow();
        assertEquals("recorded-all", longest.getString("handler"));
        assertTrue(longest.getDuration().toNanos() >= STALL_NS, longest.toString());
    }

    /** Waits until the calling handler has stalled the poller for a time, whenever the poller has its CPU. */
    private static void awaitStall(final AtomicReference<Pipeline> self) {
        while (self.get() == null) {
            Thread.onSpinWait();
        }
        final long before = self.get().causedStallNs("recorded-all");
        final long startNs = System.nanoTime();
        while (self.get().causedStallNs("recorded-all") - before < 2 * STALL_NS) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(40), "no stall");
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    private static List<RecordedEvent> of(final List<RecordedEvent> events, final String name) {
        return events.stream().filter(event -> event.getEventType().getName().equals(name)).toList();
    }
}
