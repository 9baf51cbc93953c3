package io.ringpoll.bench.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.measure.Timing;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticProgram;
import io.ringpoll.synthetic.SyntheticSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that every hand-off does the whole job: a lost completion would make it faster. */
@Timeout(60)
class HandOffTest {
    private static final long COMPLETIONS = 100_000;
    private static final int RING_SIZE = 256;
    private static final int BATCH = 32;

    private SyntheticSource source;

    static Stream<String> labels() {
        final List<String> labels =
            new ArrayList<>(List.of(RingpollHandOff.NAME, CHandOff.NAME, CHandOff.BARE_NAME));
        HandOffs.allCopying().forEach(handOff -> labels.add(handOff.label()));
        return labels.stream();
    }

    @BeforeEach
    void open() {
        source = SyntheticSource.open();
    }

    @AfterEach
    void close() {
        source.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {RingpollHandOff.NAME, CHandOff.NAME})
    void shouldHandleEveryCompletionBesideEmptyQueues(final String label) throws TimeoutException {
        try (EmptyQueues empty = new EmptyQueues(7)) {
            final Outcome outcome = run(HandOffs.of(label), new Job(source.queue(), source.context(), 1, RING_SIZE, BATCH,
                WaitMode.YIELD, HotCpus.unpinned(), 0, 0, 0, empty.all()));
            assertEquals(COMPLETIONS, outcome.handled());
            assertTrue(outcome.isSound(true), outcome.toString());
        }
    }

    @ParameterizedTest
    @MethodSource("labels")
    void shouldHandleEveryCompletionOnce(final String label) throws TimeoutException {
        final Outcome outcome = run(HandOffs.of(label), job(1, WaitMode.YIELD));
        assertEquals("", outcome.fault());
        assertEquals(COMPLETIONS, outcome.handled());
        assertEquals(COMPLETIONS * (COMPLETIONS - 1) / 2, outcome.sum());
        assertTrue(outcome.isSound(true));
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void shouldShareTheCompletionsAmongHandlersByPath(final int handlers) throws TimeoutException {
        for (final String label : List.of(RingpollHandOff.NAME, CHandOff.NAME)) {
            final Outcome outcome = run(HandOffs.of(label), job(handlers, WaitMode.YIELD));
            assertEquals(COMPLETIONS, outcome.handled(), label);
            assertTrue(outcome.isSound(true), label);
        }
    }

    @ParameterizedTest
    @MethodSource("labels")
    void shouldRecordOnlyCompletionsThatWereDueInTheRecordingTime(final String label) throws TimeoutException {
        final long startNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(20);
        final long fromNs = startNs + TimeUnit.MILLISECONDS.toNanos(10);
        final long untilNs = fromNs + TimeUnit.MILLISECONDS.toNanos(50);
        final HandOff.Running running = HandOffs.of(label).start(new Job(source.queue(), source.context(), 1, RING_SIZE, BATCH,
            WaitMode.YIELD, HotCpus.unpinned(), fromNs, untilNs, 0));
        source.start(SyntheticProgram.of(Mixes.usual(), Schedule.rate(100_000)).startingAt(startNs).limitedTo(10_000));
        Timing.await(() -> running.handled() >= 10_000, deadline(), label);
        final Outcome outcome = running.stop();
        assertTrue(outcome.isSound(false), outcome.fault());
        assertEquals(5_000, outcome.latencyNs().getTotalCount());
        assertTrue(outcome.latencyNs().getMinValue() > 0, "nothing is handled before it is due");
        assertTrue(outcome.latencyNs().getMaxValue() < TimeUnit.SECONDS.toNanos(30), "and nothing 30 s later");
    }

    @Test
    void shouldListTheHandOffsWhenOneIsUnknown() {
        final String message =
            assertThrows(IllegalArgumentException.class, () -> HandOffs.of("pigeon")).getMessage();
        assertTrue(message.contains("pigeon") && message.contains("spsc-array-queue"), message);
    }

    @Test
    void shouldNotCallLostOrRepeatedCompletionsSound() {
        final Work work = Work.of(job(1, WaitMode.YIELD));
        assertTrue(new Outcome(4, 4, 6, work.latencyNs(), "").isSound(true));
        assertEquals(false, new Outcome(4, 3, 3, work.latencyNs(), "").isSound(true));
        assertEquals(false, new Outcome(4, 4, 7, work.latencyNs(), "").isSound(true));
        assertEquals(false, new Outcome(4, 4, 6, work.latencyNs(), "it stopped").isSound(true));
    }

    private Job job(final int handlers, final WaitMode waitStrategy) {
        return new Job(source.queue(), source.context(), handlers, RING_SIZE, BATCH, waitStrategy, HotCpus.unpinned(), 0, 0, 0);
    }

    private Outcome run(final HandOff handOff, final Job job) throws TimeoutException {
        source.stop();
        final HandOff.Running running = handOff.start(job);
        source.start(SyntheticProgram.of(Mixes.usual(), Schedule.saturation()).limitedTo(COMPLETIONS));
        Timing.await(() -> running.handled() >= COMPLETIONS, deadline(), handOff.label());
        return running.stop();
    }

    private static long deadline() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    }
}
