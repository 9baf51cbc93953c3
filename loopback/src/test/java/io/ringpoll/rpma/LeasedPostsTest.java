package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.verbs.MessagePosts;
import io.ringpoll.internal.verbs.MessageReceives;
import io.ringpoll.internal.verbs.MessageSends;
import io.ringpoll.testing.CompiledCode;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Posts by a lease of the connection's address: the JVM must survive when another thread closes what they use. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LeasedPostsTest {
    private static final int TRIES = 60;
    private static final long MAX_DELAY_NS = 2_000_000;
    private static final int QUEUE_SIZE = 64;
    private static final int LENGTH = 4096;

    private final ConnectedPair pair = newPair();
    private final LocalMemoryRegion memory = pair.memory(LENGTH);

    private static ConnectedPair newPair() {
        final ConnectedPair made = ConnectedPair.of(config -> config.sqSize(QUEUE_SIZE).rqSize(QUEUE_SIZE).cqSize(1024));
        made.client().completionQueue().withoutBudget();
        made.server().completionQueue().withoutBudget();
        return made;
    }

    @BeforeAll
    static void compileTheLoops() {
        if (TestDevice.isLoopback()) {
            try (ConnectedPair warm = newPair()) {
                final LocalMemoryRegion region = warm.memory(LENGTH);
                final OtherThread<Void> sender =
                    OtherThread.run(() -> sendUntilFailure(MessagePosts.sends(warm.client(), region)));
                final OtherThread<Void> receiver =
                    OtherThread.run(() -> receiveUntilFailure(MessagePosts.receives(warm.server(), region)));
                for (final String loop : List.of("sendUntilFailure", "receiveUntilFailure")) {
                    CompiledCode.awaitC2(LeasedPostsTest.class, loop);
                }
                warm.client().close();
                warm.server().close();
                sender.failure(IllegalStateException.class);
                receiver.failure(IllegalStateException.class);
            }
        }
    }

    @RepeatedTest(TRIES)
    void shouldReportAClosedConnectionToPostingThreads() {
        final MessageSends sends = MessagePosts.sends(pair.client(), memory);
        final MessageReceives receives = MessagePosts.receives(pair.client(), memory);
        final OtherThread<Void> sender = OtherThread.run(() -> sendUntilFailure(sends));
        final OtherThread<Void> receiver = OtherThread.run(() -> receiveUntilFailure(receives));
        pause();
        pair.client().close();
        sender.failure(IllegalStateException.class);
        receiver.failure(IllegalStateException.class);
        assertThrows(IllegalStateException.class, () -> sends.post(0, 64, false, 0, 1));
        pair.close();
    }

    @RepeatedTest(TRIES)
    void shouldReportAClosedRegionToPostingThreads() {
        final OtherThread<Void> sender = OtherThread.run(() -> sendUntilFailure(MessagePosts.sends(pair.client(), memory)));
        final OtherThread<Void> receiver =
            OtherThread.run(() -> receiveUntilFailure(MessagePosts.receives(pair.server(), memory)));
        pause();
        memory.close();
        // C gives the same address to the next region.
        pair.memory(LENGTH);
        sender.failure(IllegalStateException.class);
        receiver.failure(IllegalStateException.class);
        pair.close();
    }

    @RepeatedTest(TRIES)
    void shouldReportAClosedConnectionToThreadsThatUseTheSamePosts() {
        final MessageSends sends = MessagePosts.sends(pair.client(), memory);
        final OtherThread<Void> first = OtherThread.run(() -> sendUntilFailure(sends));
        final OtherThread<Void> second = OtherThread.run(() -> sendUntilFailure(sends));
        pause();
        pair.client().close();
        first.failure(IllegalStateException.class);
        second.failure(IllegalStateException.class);
        pair.close();
    }

    @Test
    void shouldDeliverEachAcceptedMessageOfTwoThreadsOnce() {
        final MessageSends sends = MessagePosts.sends(pair.client(), memory);
        final int each = 20_000;
        final OtherThread<Integer> first = OtherThread.run(() -> send(sends, each));
        final OtherThread<Integer> second = OtherThread.run(() -> send(sends, each));
        final MessageReceives receives = MessagePosts.receives(pair.server(), pair.memory(QUEUE_SIZE * LENGTH));
        final Completions completions = new Completions(QUEUE_SIZE);
        int posted = 0;
        int received = 0;
        int empty = 0;
        int longest = 0;
        final Completions sent = new Completions(QUEUE_SIZE);
        int completed = 0;
        while (received < 2 * each || completed < 2 * each) {
            posted += receives.post(0, LENGTH, 0, QUEUE_SIZE);
            final int count = pair.server().completionQueue().poll(completions.records(), 0, QUEUE_SIZE);
            for (int i = 0; i < count; i++) {
                assertTrue(completions.at(i).isSuccess(), completions.at(i)::toString);
                empty += completions.at(i).lengthBytes() == 0 ? 1 : 0;
                longest += completions.at(i).lengthBytes() == LENGTH ? 1 : 0;
            }
            received += count;
            completed += pair.client().completionQueue().poll(sent.records(), 0, QUEUE_SIZE);
        }
        first.result();
        second.result();
        assertEquals(2 * each, received);
        assertEquals(2 * each, completed);
        assertEquals(each, empty);
        assertEquals(each, longest);
        assertTrue(posted >= received);
        pair.close();
    }

    private static int send(final MessageSends sends, final int number) {
        for (int i = 0; i < number; i++) {
            while (!sends.post(0, i % 2 == 0 ? 0 : LENGTH, true, i, i)) {
                Thread.onSpinWait();
            }
        }
        return number;
    }

    private static Void sendUntilFailure(final MessageSends sends) {
        try {
            while (true) {
                sends.post(0, 64, false, 1, 1);
            }
        } catch (final IllegalStateException closed) {
            // The failed post has asked for a lease, which it may not have got.
            sends.post(0, 64, false, 1, 1);
        }
        return null;
    }

    private static Void receiveUntilFailure(final MessageReceives receives) {
        try {
            while (true) {
                receives.post(0, 64, 1, 2);
            }
        } catch (final IllegalStateException closed) {
            // The failed post has asked for a lease, which it may not have got.
            receives.post(0, 64, 1, 2);
        }
        return null;
    }

    private static void pause() {
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_DELAY_NS));
    }
}
