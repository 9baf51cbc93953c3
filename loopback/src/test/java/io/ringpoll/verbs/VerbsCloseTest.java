package io.ringpoll.verbs;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.Tries;
import io.ringpoll.testing.VerbsPair;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** Closes objects that other threads use on the hot path: the JVM must survive, and each thread must get an exception. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class VerbsCloseTest {
    private static final int TRIES = 40;
    private static final long MAX_DELAY_NS = 2_000_000;

    private final VerbsPair pair = VerbsPair.ofDefaults();
    private final MemoryRegion memory = pair.memory(4096, VerbsPair.ALL);

    @Tries(TRIES)
    void shouldReportAClosedQueuePairToPostingThreads() {
        final SendList list = writes();
        final SendList second = writes();
        final OtherThread<Void> writer = OtherThread.run(() -> writeUntilFailure(list, pair.client()));
        final OtherThread<Void> other = OtherThread.run(() -> writeUntilFailure(second, pair.client()));
        final OtherThread<Void> receiver = OtherThread.run(() -> receiveUntilFailure(pair.client()));
        pause();
        pair.client().close();
        writer.failure(IllegalStateException.class);
        other.failure(IllegalStateException.class);
        receiver.failure(IllegalStateException.class);
        pair.close();
    }

    @Tries(TRIES)
    void shouldReportAClosedListToThePostingThread() {
        final SendList list = writes();
        final OtherThread<Void> writer = OtherThread.run(() -> writeUntilFailure(list, pair.client()));
        pause();
        list.close();
        writer.failure(IllegalStateException.class);
        pair.close();
    }

    @Tries(TRIES)
    void shouldReportAClosedListToTheThreadThatFillsIt() {
        final SendList list = writes();
        final OtherThread<Void> filler = OtherThread.run(() -> {
            while (true) {
                list.element(0, 0, 8, 8);
                list.immediate(0, 1);
            }
        });
        pause();
        list.close();
        filler.failure(IllegalStateException.class);
        pair.close();
    }

    @Tries(TRIES)
    void shouldReportAClosedQueueToPollingThreads() {
        final VerbsCompletionQueue queue = pair.client().sendQueue();
        final OtherThread<Integer> poller = OtherThread.run(() -> pollUntilFailure(queue));
        pause();
        pair.client().close();
        queue.close();
        assertTrue(poller.result() < 0);
        pair.close();
    }

    @Tries(TRIES)
    void shouldCloseAnIdOnceFromSeveralThreads() {
        pair.client().close();
        final OtherThread<Void> closer = OtherThread.run(() -> {
            pair.clientId().close();
            return null;
        });
        pair.clientId().close();
        closer.result();
        assertTrue(pair.clientId().isClosed());
        pair.close();
    }

    private SendList writes() {
        final SendList list = pair.closed(SendList.allocate(4, 1));
        for (int i = 0; i < 4; i++) {
            list.write(i, memory.remote(), SendFlag.SIGNALED);
            list.elements(i, memory);
            list.element(i, 0, 0, 64);
        }
        return list;
    }

    private static Void writeUntilFailure(final SendList list, final QueuePair queuePair) {
        while (true) {
            queuePair.postSend(list);
        }
    }

    private Void receiveUntilFailure(final QueuePair queuePair) {
        try (ReceiveList list = ReceiveList.allocate(4, 0)) {
            while (true) {
                queuePair.postReceive(list);
            }
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
