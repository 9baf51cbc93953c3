package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.internal.lifecycle.HotCalls;
import io.ringpoll.internal.lifecycle.HotMark;
import io.ringpoll.internal.verbs.MessagePosts;
import io.ringpoll.internal.verbs.MessageReceives;
import io.ringpoll.internal.verbs.MessageSends;
import io.ringpoll.testing.CompiledCode;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.Tries;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Posts by a lease of the connection's address: the JVM must survive when another thread closes their objects. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LeasedPostsTest {
    private static final int TRIES = 60;
    private static final long MAX_DELAY_NS = 2_000_000;
    private static final int QUEUE_SIZE = 64;
    private static final int LENGTH = 4096;
    /** Of each thread. An emulated device needs a millisecond for a message. */
    private static final int MESSAGES = TestDevice.isShort() ? 1_000 : 20_000;

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
        if (!TestDevice.isShort()) {
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

    @Tries(TRIES)
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

    @Tries(TRIES)
    void shouldReportAClosedRegionToPostingThreads() {
        final OtherThread<Void> sender = OtherThread.run(() -> sendUntilFailure(MessagePosts.sends(pair.client(), memory)));
        final OtherThread<Void> receiver =
            OtherThread.run(() -> receiveUntilFailure(MessagePosts.receives(pair.server(), memory)));
        pause();
        memory.close();
        // The next region gets the same address from C.
        pair.memory(LENGTH);
        sender.failure(IllegalStateException.class);
        receiver.failure(IllegalStateException.class);
        pair.close();
    }

    @Tries(TRIES)
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
        final OtherThread<Integer> first = OtherThread.run(() -> send(sends, MESSAGES));
        final OtherThread<Integer> second = OtherThread.run(() -> send(sends, MESSAGES));
        final MessageReceives receives = MessagePosts.receives(pair.server(), pair.memory(QUEUE_SIZE * LENGTH));
        final Completions completions = new Completions(QUEUE_SIZE);
        int posted = 0;
        int received = 0;
        int empty = 0;
        int longest = 0;
        final Completions sent = new Completions(QUEUE_SIZE);
        int completed = 0;
        while (received < 2 * MESSAGES || completed < 2 * MESSAGES) {
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
        assertEquals(2 * MESSAGES, received);
        assertEquals(2 * MESSAGES, completed);
        assertEquals(MESSAGES, empty);
        assertEquals(MESSAGES, longest);
        assertTrue(posted >= received);
        pair.close();
    }

    @Test
    void shouldPostEmptyMessagesWithAndWithoutALease() {
        final LeasedSends sends = new LeasedSends(pair.client(), memory);
        MessagePosts.receives(pair.server(), memory).post(0, 64, 0, 3);
        for (int i = 0; i < 3; i++) {
            // The first one gets the lease.
            assertTrue(sends.post(128, 0, true, 10 + i, i));
            assertNotEquals(0, sends.leasable());
        }
        final Completions received = new Completions();
        received.await(pair.server().completionQueue(), 3);
        for (int i = 0; i < 3; i++) {
            assertEquals(0, received.at(i).lengthBytes());
            assertEquals(10 + i, received.at(i).immediate());
        }
        pair.close();
    }

    @Test
    void shouldRefuseSendsUntilAFullQueueHasRoom() {
        final MessageSends sends = MessagePosts.sends(pair.client(), memory);
        int sent = 0;
        while (sends.post(0, 64, true, sent, sent)) {
            sent++;
            assertTrue(sent < 1024, "the queue is never full");
        }
        assertFalse(sends.post(0, 64, true, 0, 0));
        assertEquals(1, MessagePosts.receives(pair.server(), memory).post(0, 64, 0, 1));
        new Completions().awaitOne(pair.client().completionQueue());
        assertTrue(sends.post(0, 64, true, 0, 0));
        pair.close();
    }

    @Test
    void shouldPostAsManyReceivesAsThereIsRoomFor() {
        final MessageReceives receives = MessagePosts.receives(pair.server(), memory);
        assertEquals(1, receives.post(0, 16, 0, 1));
        final int more = receives.post(0, 1, 1, 1024);
        assertTrue(more >= QUEUE_SIZE - 1 && more < 1024, () -> more + " receives");
        assertEquals(0, receives.post(0, 16, 0, 1));
        assertTrue(MessagePosts.sends(pair.client(), memory).post(0, 1, true, 7, 7));
        assertEquals(7, new Completions().awaitOne(pair.server().completionQueue()).immediate());
        assertEquals(1, receives.post(0, 16, 0, 2));
        pair.close();
    }

    @Test
    void shouldDeliverInOrderTheMessagesOfThreadsThatTakeTurns() throws Exception {
        final MessageSends sends = MessagePosts.sends(pair.client(), memory);
        final MessageReceives receives = MessagePosts.receives(pair.server(), memory);
        final Completions received = new Completions();
        for (int turn = 0; turn < 100; turn++) {
            final int first = 4 * turn;
            final Callable<Integer> four = () -> receives.post(0, 64, 0, 2) + receives.post(0, 64, 0, 2);
            assertEquals(4, turn % 2 == 0 ? OtherThread.run(four).result() : four.call());
            // Each thread posts with and without a lease.
            assertEquals(2, OtherThread.run(() -> sendTwo(sends, first)).result());
            assertEquals(2, sendTwo(sends, first + 2));
            received.await(pair.server().completionQueue(), 4);
            for (int i = 0; i < 4; i++) {
                assertEquals(first + i, received.at(i).immediate());
            }
            new Completions().await(pair.client().completionQueue(), 4);
        }
        pair.close();
    }

    private static int sendTwo(final MessageSends sends, final int first) {
        assertTrue(sends.post(0, 64, true, first, 0));
        assertTrue(sends.post(0, 64, true, first + 1, 0));
        return 2;
    }

    @Test
    void shouldRefuseReceivesThatCouldOverrunAReceiveQueueWithABudget() {
        try (ConnectedPair two = ConnectedPair.of(config -> config.rqSize(QUEUE_SIZE).rcqSize(QUEUE_SIZE / 4))) {
            two.client().completionQueue().withoutBudget();
            final RpmaCompletionQueue own = two.client().receiveCompletionQueue().orElseThrow();
            final MessageReceives receives = MessagePosts.receives(two.client(), two.memory(LENGTH));
            int accepted = 0;
            for (int i = 0; i < QUEUE_SIZE; i++) {
                accepted += receives.post(0, 64, i, 1);
            }
            assertEquals(Math.min(QUEUE_SIZE, own.budget().depth()), accepted);
        }
    }

    @Test
    void shouldLeaseThePostsOfEachQueueThatHasNoBudget() {
        try (ConnectedPair two = ConnectedPair.of(config -> config.rqSize(QUEUE_SIZE).rcqSize(QUEUE_SIZE))) {
            final LocalMemoryRegion region = two.memory(LENGTH);
            two.client().receiveCompletionQueue().orElseThrow().withoutBudget();
            assertNotEquals(0, new LeasedReceives(two.client(), region).leasable());
            assertEquals(0, new LeasedSends(two.client(), region).leasable());
        }
    }

    @Test
    void shouldEnterTheLockOfAlternatingThreadsOnceForEachPost() throws ReflectiveOperationException {
        final MessageSends sends = MessagePosts.sends(pair.client(), memory);
        final MessageReceives receives = MessagePosts.receives(pair.client(), memory);
        for (int i = 0; i < 2000 && !(isLock("sends") && isLock("receives")); i++) {
            post(sends, receives);
            OtherThread.run(() -> post(sends, receives)).result();
        }
        final int sendsBefore = word("sends");
        final int receivesBefore = word("receives");
        for (int i = 0; i < 10; i++) {
            post(sends, receives);
        }
        assertEquals(10 * CallTurn.PERIOD, word("sends") - sendsBefore);
        assertEquals(10 * CallTurn.PERIOD, word("receives") - receivesBefore);
        pair.close();
    }

    private static Void post(final MessageSends sends, final MessageReceives receives) {
        sends.post(0, 64, false, 0, 0);
        receives.post(0, 64, 0, 1);
        return null;
    }

    private boolean isLock(final String calls) throws ReflectiveOperationException {
        return (boolean) ofMark(calls, "isLock");
    }

    private int word(final String calls) throws ReflectiveOperationException {
        return (int) ofMark(calls, "word");
    }

    /** Asks the mark of the client's calls of a queue. */
    private Object ofMark(final String calls, final String question) throws ReflectiveOperationException {
        final Field ofQueue = Connection.class.getDeclaredField(calls);
        ofQueue.setAccessible(true);
        final Field current = HotCalls.class.getDeclaredField("current");
        current.setAccessible(true);
        final Method method = HotMark.class.getDeclaredMethod(question);
        method.setAccessible(true);
        return method.invoke(current.get(ofQueue.get(pair.client())));
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
