package io.ringpoll.synthetic;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.completion.AsyncEvents;
import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.DeviceAttributes;
import io.ringpoll.completion.DeviceClock;
import io.ringpoll.completion.RdmaException;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.os.Errno;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.CallFault;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ProcessResources;
import io.ringpoll.verbs.ProtectionDomain;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

@Timeout(60)
class SyntheticSourceTest {
    private static final int QP = 7;
    /** More than are made to open a source. */
    private static final int MOST_CALLS = 20;
    private static final CompletionMix MIX = CompletionMix.shares().add(CompletionKind.send(QP), 5)
        .add(CompletionKind.receive(QP, 64), 2).add(CompletionKind.flushed(QP), 1).shuffled(1);

    private final Completions records = new Completions();
    private SyntheticSource source;

    @BeforeEach
    void open() {
        assumeTrue(Libraries.current().ibverbs().has("ringpoll_synthetic_open"), "needs the loopback device");
        source = SyntheticSource.open();
    }

    @AfterEach
    void close() {
        if (source != null) {
            source.close();
        }
    }

    @Test
    void shouldLeaveNothingIfItCannotBeOpened() {
        final Map<String, Long> objects = ProcessResources.objects();
        final int descriptors = ProcessResources.fileDescriptors();
        int failures = 0;
        for (int n = 1; n <= MOST_CALLS; n++) {
            CallFault.plan(n, Errno.ENOMEM);
            try {
                final SyntheticSource opened = SyntheticSource.open();
                CallFault.plan(0, 0);
                opened.close();
            } catch (final RdmaException failed) {
                failures++;
            } finally {
                CallFault.plan(0, 0);
            }
            assertEquals(objects, ProcessResources.objectsBackTo(objects), "call " + n);
            assertEquals(descriptors, ProcessResources.fileDescriptorsDownTo(descriptors), "call " + n);
        }
        assertTrue(failures >= 3, "the protection domain, the channel and the queue: " + failures);
    }

    @Test
    void shouldStayOpenUntilWhatWasCreatedWithItsContextIsClosed() {
        final VerbsContext context = source.context();
        for (final Supplier<AutoCloseable> creation : List.<Supplier<AutoCloseable>>of(() -> Peer.of(context),
            () -> ProtectionDomain.create(context), () -> CompletionChannel.create(context),
            () -> VerbsCompletionQueue.create(context, "own", 8, null))) {
            assertDoesNotThrow(() -> {
                try (AutoCloseable user = creation.get()) {
                    final String name = (String) user.getClass().getMethod("name").invoke(user);
                    final IllegalStateException refused = assertThrows(IllegalStateException.class, source::close);
                    assertTrue(refused.getMessage().endsWith(" cannot be closed before its dependents: " + name),
                        refused.getMessage());
                }
            });
        }
        assertEquals(0, source.queue().poll(records.records(), 0, 8));
    }

    @Test
    void shouldRefuseItsContextAfterItsEnd() {
        final VerbsContext context = source.context();
        source.close();
        for (final Executable use : List.<Executable>of(() -> Peer.of(context), () -> ProtectionDomain.create(context),
            () -> CompletionChannel.create(context), () -> VerbsCompletionQueue.create(context, "own", 8, null),
            () -> DeviceClock.isOfferedBy(context), () -> DeviceAttributes.of(context), context::completionVectors)) {
            final IllegalStateException refused = assertThrows(IllegalStateException.class, use);
            assertTrue(refused.getMessage().startsWith("synthetic device"), refused.getMessage());
        }
    }

    @Test
    void shouldHaveNoAsynchronousEvents() {
        final VerbsContext context = source.context();
        final IllegalArgumentException refused =
            assertThrows(IllegalArgumentException.class, () -> AsyncEvents.listen(context, event -> { }));
        assertEquals("synthetic0 has no asynchronous events", refused.getMessage());
    }

    @Test
    void shouldRefuseProgramsThatCannotBeCarriedOut() {
        final CompletionMix.Shares shares = CompletionMix.shares();
        assertThrows(IllegalArgumentException.class, () -> shares.add(CompletionKind.send(QP), Integer.MAX_VALUE));
        assertThrows(IllegalArgumentException.class, () -> shares.add(CompletionKind.send(QP), 0));
        assertEquals("the kind is null",
            assertThrows(NullPointerException.class, () -> shares.add(null, 1)).getMessage());
        assertEquals("the mix is null",
            assertThrows(NullPointerException.class, () -> SyntheticProgram.of(null, Schedule.saturation())).getMessage());
        assertEquals("the schedule is null",
            assertThrows(NullPointerException.class, () -> SyntheticProgram.of(MIX, null)).getMessage());
        assertThrows(IllegalStateException.class, () -> Schedule.saturation().dueWithin(1));
    }

    @Test
    void shouldGiveNothingBeforeTheFirstProgram() {
        assertEquals(0, source.queue().poll(records.records(), 0, 8));
    }

    @Test
    void shouldGiveTheMixInSaturation() {
        source.start(SyntheticProgram.of(MIX, Schedule.saturation()).limitedTo(800));
        final Map<CompletionPath, Integer> paths = new EnumMap<>(CompletionPath.class);
        for (int k = 0; k < 800; k++) {
            final WorkCompletion completion = records.awaitOne(source.queue());
            assertEquals(k, completion.workRequestId());
            assertEquals(QP, completion.queuePairNumber());
            paths.merge(completion.path(), 1, Integer::sum);
        }
        assertEquals(Map.of(CompletionPath.SEND_WRITE, 500, CompletionPath.RECEIVE, 200, CompletionPath.ERROR, 100), paths);
        assertEquals(0, source.queue().poll(records.records(), 0, 8));
        assertEquals(800, source.given());
    }

    @Test
    void shouldGiveTheFieldsOfAKind() {
        source.start(SyntheticProgram.of(
            new CompletionMix(List.of(CompletionKind.receive(9, 4_096), CompletionKind.flushed(10))), Schedule.saturation()));
        final WorkCompletion received = records.awaitOne(source.queue());
        assertEquals(WcOpcode.RECV, received.opcode());
        assertEquals(4_096, received.lengthBytes());
        assertEquals(9, received.queuePairNumber());
        final WorkCompletion flushed = records.awaitOne(source.queue());
        assertEquals(WcStatus.WR_FLUSH_ERR, flushed.status());
        assertEquals(10, flushed.queuePairNumber());
    }

    @Test
    void shouldCarryDueTimesOfTheClockOfNanoTime() {
        final long startNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(5);
        source.start(SyntheticProgram.of(MIX, Schedule.rate(10_000)).startingAt(startNs));
        for (int k = 0; k < 100; k++) {
            final WorkCompletion completion = records.awaitOne(source.queue());
            assertEquals(startNs + k * 100_000L, completion.workRequestId());
            assertTrue(System.nanoTime() >= completion.workRequestId(), "a completion came before it was due");
        }
    }

    @Test
    void shouldReturnOverdueCompletionsWithTheirDueTimes() {
        final long startNs = System.nanoTime();
        source.start(SyntheticProgram.of(MIX, Schedule.bursts(1_000, 2)).startingAt(startNs));
        LockSupport.parkNanos(startNs + TimeUnit.MILLISECONDS.toNanos(21) - System.nanoTime());
        assertTrue(source.queue().poll(records.records(), 0, 64) >= 20);
        for (int i = 0; i < 20; i++) {
            assertEquals(startNs + i / 2 * 2_000_000L, records.at(i).workRequestId());
        }
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(3));
        source.queue().poll(records.records(), 0, 64);
        final long gapNs = source.takeLongestGapNs();
        assertTrue(gapNs >= 3_000_000, "a gap of " + gapNs + " ns");
        assertEquals(0, source.takeLongestGapNs());
    }

    @Test
    void shouldKeepToItsBatches() {
        source.start(SyntheticProgram.of(MIX, Schedule.saturation()).batchedBy(3, 1));
        final CompletionQueue queue = source.queue();
        assertEquals(3, queue.poll(records.records(), 0, 64));
        assertEquals(0, queue.poll(records.records(), 0, 64));
        assertEquals(3, queue.poll(records.records(), 0, 64));
    }

    @Test
    void shouldBePolledStraightThroughVerbsToo() {
        source.start(SyntheticProgram.of(MIX, Schedule.saturation()));
        try (VerbsCompletionQueue queue = source.queue().openVerbs()) {
            assertEquals(64, queue.poll(records.records(), 0, 64));
            assertEquals(63, records.at(63).workRequestId());
        }
    }
}
