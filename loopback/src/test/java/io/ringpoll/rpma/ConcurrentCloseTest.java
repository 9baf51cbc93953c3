package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.testing.CompiledCode;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.Tries;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/**
 * Closes resources that other threads use on the hot path without a lock: the JVM must survive, and each thread must get an
 * exception. A missing protection shows only in many tries.
 */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ConcurrentCloseTest {
    private static final int TRIES = 60;
    private static final long MAX_DELAY_NS = 2_000_000;

    private final ConnectedPair pair = ConnectedPair.of(config -> config.sqSize(64).cqSize(1024));
    private final LocalMemoryRegion memory = pair.memory(4096);
    private final RemoteMemoryRegion remote = pair.remote(memory);

    /** A compiled loop has other safepoints than an interpreted one. In a guest that is emulated C2 would take too long. */
    @BeforeAll
    static void compileTheLoops() {
        if (!TestDevice.isShort()) {
            try (ConnectedPair warm = ConnectedPair.of(config -> config.sqSize(64).cqSize(1024))) {
                final LocalMemoryRegion region = warm.memory(4096);
                final RemoteMemoryRegion target = warm.remote(region);
                final OtherThread<Void> writer = OtherThread.run(() -> writeUntilFailure(warm.client(), target, region));
                final OtherThread<Void> receiver = OtherThread.run(() -> receiveUntilFailure(warm.server(), region));
                final OtherThread<Integer> poller =
                    OtherThread.run(() -> pollUntilFailure(warm.client().completionQueue()));
                for (final String loop : List.of("writeUntilFailure", "receiveUntilFailure", "pollUntilFailure")) {
                    CompiledCode.awaitC2(ConcurrentCloseTest.class, loop);
                }
                warm.client().close();
                warm.server().close();
                writer.failure(IllegalStateException.class);
                receiver.failure(IllegalStateException.class);
                assertEquals(RpmaError.INVAL, poller.result());
            }
        }
    }

    @Tries(TRIES)
    void shouldReportAClosedConnectionToPostingAndPollingThreads() {
        final OtherThread<Void> poster = OtherThread.run(() -> writeUntilFailure(pair.client(), remote, memory));
        final OtherThread<Integer> poller = OtherThread.run(() -> pollUntilFailure(pair.client().completionQueue()));
        pause();
        pair.client().close();
        poster.failure(IllegalStateException.class);
        assertEquals(RpmaError.INVAL, poller.result());
        pair.close();
    }

    @Tries(TRIES)
    void shouldReportAClosedRegionToPostingThreads() {
        final OtherThread<Void> writer = OtherThread.run(() -> writeUntilFailure(pair.client(), remote, memory));
        final OtherThread<Void> receiver = OtherThread.run(() -> receiveUntilFailure(pair.server(), memory));
        pause();
        remote.close();
        memory.close();
        writer.failure(IllegalStateException.class);
        receiver.failure(IllegalStateException.class);
        pair.close();
    }

    @Tries(TRIES)
    void shouldReportAClosedVerbsQueueToPollingThreads() {
        final VerbsCompletionQueue queue = VerbsCompletionQueue.create(pair.peer().context(), "mine", 16, null);
        final OtherThread<Integer> poller = OtherThread.run(() -> pollUntilFailure(queue));
        pause();
        queue.close();
        assertTrue(poller.result() < 0);
        pair.close();
    }

    @Tries(TRIES)
    void shouldReportAClosedSharedReceiveQueueToItsThreads() {
        try (SharedReceiveQueueConfig config = SharedReceiveQueueConfig.create().rqSize(16).rcqSize(16)) {
            final SharedReceiveQueue shared = pair.peer().sharedReceiveQueue(config);
            final OtherThread<Void> poster = OtherThread.run(() -> {
                while (true) {
                    shared.receive(memory, 0, 64, 1);
                }
            });
            final OtherThread<Integer> poller =
                OtherThread.run(() -> pollUntilFailure(shared.receiveCompletionQueue().orElseThrow()));
            pause();
            shared.close();
            poster.failure(IllegalStateException.class);
            assertEquals(RpmaError.INVAL, poller.result());
        }
        pair.close();
    }

    @Tries(TRIES)
    void shouldReportAClosedConnectionToAThreadInTheOldCall() {
        final OtherThread<Integer> reader = OtherThread.run(() -> {
            final LegacyCompletion completion = new LegacyCompletion();
            int result = RpmaError.NO_COMPLETION;
            while (result == RpmaError.NO_COMPLETION) {
                result = pair.client().completionQueue().getCompletion(completion);
            }
            return result;
        });
        pause();
        pair.client().close();
        assertEquals(RpmaError.INVAL, reader.result());
        pair.close();
    }

    @Tries(TRIES)
    void shouldNotDestroyTheQueueBelowOneThatIsBeingOpened() {
        final OtherThread<VerbsCompletionQueue> opener =
            OtherThread.run(() -> pair.client().completionQueue().openVerbs());
        pause();
        try {
            pair.client().close();
            opener.failure(IllegalStateException.class);
        } catch (final IllegalStateException openedFirst) {
            final VerbsCompletionQueue queue = opener.result();
            assertEquals(0, queue.poll(new Completions().records(), 0, 1));
            queue.close();
            pair.client().close();
        }
        pair.close();
    }

    private static Void writeUntilFailure(
        final Connection connection, final RemoteMemoryRegion target, final LocalMemoryRegion source) {
        while (true) {
            connection.write(target, 0, source, 2048, 1024, CompletionFlag.ALWAYS, 1);
        }
    }

    private static Void receiveUntilFailure(final Connection connection, final LocalMemoryRegion target) {
        while (true) {
            connection.receive(target, 0, 64, 1);
        }
    }

    private static int pollUntilFailure(final CompletionQueue queue) {
        final Completions completions = new Completions();
        int result = 0;
        while (result >= 0) {
            result = queue.poll(completions.records(), 0, 64);
        }
        return result;
    }

    private static void pause() {
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_DELAY_NS));
    }
}
