package io.ringpoll.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.internal.lifecycle.HotLease;
import io.ringpoll.internal.verbs.MessagePosts;
import io.ringpoll.internal.verbs.MessageReceives;
import io.ringpoll.internal.verbs.MessageSends;
import io.ringpoll.testing.CompiledCode;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.Tries;
import io.ringpoll.testing.VerbsPair;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Posts by a lease of the queue pair's address: the JVM must survive when another thread closes their objects. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VerbsLeasedPostsTest {
    private static final int TRIES = 40;
    private static final long MAX_DELAY_NS = 2_000_000;
    /** More than one call posts. */
    private static final int DEPTH = 48;
    private static final int MOST_RECEIVES = 1024;
    private static final int LENGTH = 4096;
    /** Of each thread. An emulated device needs a millisecond for a message. */
    private static final int MESSAGES = TestDevice.isShort() ? 1_000 : 20_000;
    /** Instead of the immediate data of the first message of a thread. */
    private static final int FIRST_OF_SECOND = 1 << 24;

    private final VerbsPair pair = newPair();
    private final MemoryRegion memory = pair.memory(LENGTH, VerbsPair.ALL);

    private static VerbsPair newPair() {
        return VerbsPair.of(
            attributes -> attributes.maxSendRequests(DEPTH).maxReceiveRequests(DEPTH).completionBudget(false));
    }

    @BeforeAll
    static void compileTheLoops() {
        if (!TestDevice.isShort()) {
            try (VerbsPair warm = newPair()) {
                final MemoryRegion region = warm.memory(LENGTH, VerbsPair.ALL);
                final OtherThread<Void> sender =
                    OtherThread.run(() -> sendUntilFailure(MessagePosts.sends(warm.client(), region)));
                final OtherThread<Void> receiver =
                    OtherThread.run(() -> receiveUntilFailure(MessagePosts.receives(warm.server(), region)));
                for (final String loop : List.of("sendUntilFailure", "receiveUntilFailure")) {
                    CompiledCode.awaitC2(VerbsLeasedPostsTest.class, loop);
                }
                warm.client().close();
                warm.server().close();
                sender.failure(IllegalStateException.class);
                receiver.failure(IllegalStateException.class);
            }
        }
    }

    @Tries(TRIES)
    void shouldReportAClosedQueuePairToPostingThreads() {
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
        final MemoryRegion closed = pair.domain().allocate(LENGTH, VerbsPair.ALL);
        final OtherThread<Void> sender = OtherThread.run(() -> sendUntilFailure(MessagePosts.sends(pair.client(), closed)));
        final OtherThread<Void> receiver =
            OtherThread.run(() -> receiveUntilFailure(MessagePosts.receives(pair.server(), closed)));
        pause();
        closed.close();
        // The next region may get the same address from C.
        pair.memory(LENGTH, VerbsPair.ALL);
        sender.failure(IllegalStateException.class);
        receiver.failure(IllegalStateException.class);
        pair.close();
    }

    @Tries(TRIES)
    void shouldReportAClosedQueuePairToThreadsThatUseTheSamePosts() {
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
        final OtherThread<Integer> first = OtherThread.run(() -> send(sends, 0));
        final OtherThread<Integer> second = OtherThread.run(() -> send(sends, FIRST_OF_SECOND));
        final MessageReceives receives = MessagePosts.receives(pair.server(), pair.memory(DEPTH * LENGTH, VerbsPair.ALL));
        final Completions completions = new Completions(DEPTH);
        final Completions sent = new Completions(DEPTH);
        int posted = 0;
        int received = 0;
        int completed = 0;
        int nextOfFirst = 0;
        int nextOfSecond = FIRST_OF_SECOND;
        while (received < 2 * MESSAGES || completed < 2 * MESSAGES) {
            posted += receives.post(0, LENGTH, 0, DEPTH);
            final int count = pair.server().receiveQueue().poll(completions.records(), 0, DEPTH);
            for (int i = 0; i < count; i++) {
                assertTrue(completions.at(i).isSuccess(), completions.at(i)::toString);
                final int immediate = completions.at(i).immediate();
                assertEquals(immediate % 2 == 0 ? 0 : LENGTH, completions.at(i).lengthBytes());
                assertEquals(immediate < FIRST_OF_SECOND ? nextOfFirst++ : nextOfSecond++, immediate);
            }
            received += count;
            completed += pair.client().sendQueue().poll(sent.records(), 0, DEPTH);
        }
        first.result();
        second.result();
        assertEquals(2 * MESSAGES, received);
        assertEquals(2 * MESSAGES, completed);
        assertEquals(MESSAGES, nextOfFirst);
        assertTrue(posted >= received);
        pair.close();
    }

    @Test
    void shouldPostMessagesOfAllFieldsWithAndWithoutALease() throws ReflectiveOperationException {
        final LeasedSends sends = new LeasedSends(pair.client(), memory);
        final MemoryRegion target = pair.memory(LENGTH, VerbsPair.ALL);
        assertEquals(3, MessagePosts.receives(pair.server(), target).post(1024, 64, 100, 3));
        final Completions received = new Completions();
        for (int i = 0; i < 3; i++) {
            memory.memory().set(ValueLayout.JAVA_LONG, 512 + 8 * i, 7_000 + i);
            // The first one gets the lease.
            assertTrue(sends.post(512 + 8 * i, 8, true, 10 + i, Long.MIN_VALUE + i));
            assertNotEquals(0L, leasedAddress(sends));
            assertEquals(Long.MIN_VALUE + i, pair.nextSuccess(pair.client().sendQueue()).workRequestId());
            received.await(pair.server().receiveQueue(), 1);
            assertEquals(100 + i, received.at(0).workRequestId());
            assertEquals(8, received.at(0).lengthBytes());
            assertEquals(10 + i, received.at(0).immediate());
            assertEquals(7_000 + i, target.memory().get(ValueLayout.JAVA_LONG, 1024 + 64 * i));
        }
        pair.close();
    }

    @Test
    void shouldPostEmptyMessages() {
        final MessageSends sends = MessagePosts.sends(pair.client(), memory);
        assertEquals(3, MessagePosts.receives(pair.server(), memory).post(0, 64, 0, 3));
        for (int i = 0; i < 3; i++) {
            assertTrue(sends.post(128, 0, false, 10 + i, i));
            final var completion = pair.nextSuccess(pair.server().receiveQueue());
            assertEquals(0, completion.lengthBytes());
            assertEquals(10 + i, completion.immediate());
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
        pair.nextSuccess(pair.client().sendQueue());
        assertTrue(sends.post(0, 64, true, 0, 0));
        pair.close();
    }

    @Test
    void shouldPostAsManyReceivesAsThereIsRoomFor() throws ReflectiveOperationException {
        final MessageReceives receives = MessagePosts.receives(pair.server(), pair.memory(MOST_RECEIVES, VerbsPair.ALL));
        assertEquals(1, receives.post(0, 1, 0, 1));
        assertNotEquals(0L, leasedAddress((HotLease) receives));
        // The first ones by a full chain, the last ones by a part of one.
        final int more = receives.post(1, 1, 1, MOST_RECEIVES - 1);
        assertTrue(more >= DEPTH - 1 && more < MOST_RECEIVES - 1, () -> more + " receives");
        assertEquals(0, receives.post(0, 1, 0, 1));
        final MessageSends sends = MessagePosts.sends(pair.client(), memory);
        for (int i = 0; i < 1 + more; i++) {
            assertTrue(sends.post(0, 1, true, i, i));
            assertEquals(i, pair.nextSuccess(pair.server().receiveQueue()).workRequestId());
            pair.nextSuccess(pair.client().sendQueue());
        }
        assertEquals(2, receives.post(0, 1, 0, 2));
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
            received.await(pair.server().receiveQueue(), 4);
            for (int i = 0; i < 4; i++) {
                assertEquals(first + i, received.at(i).immediate());
            }
            new Completions().await(pair.client().sendQueue(), 4);
        }
        pair.close();
    }

    private static long leasedAddress(final HotLease lease) throws ReflectiveOperationException {
        final Field address = HotLease.class.getDeclaredField("address");
        address.setAccessible(true);
        return address.getLong(lease);
    }

    private static int sendTwo(final MessageSends sends, final int first) {
        assertTrue(sends.post(0, 64, true, first, 0));
        assertTrue(sends.post(0, 64, true, first + 1, 0));
        return 2;
    }

    @Test
    void shouldLeaseNothingOfAQueuePairThatCountsItsRequests() {
        try (VerbsPair counted = VerbsPair.of(attributes -> attributes.maxReceiveRequests(MOST_RECEIVES))) {
            final MemoryRegion region = counted.memory(LENGTH, VerbsPair.ALL);
            assertEquals(0, new LeasedSends(counted.client(), region).leasable());
            final LeasedReceives receives = new LeasedReceives(counted.client(), region);
            assertEquals(0, receives.leasable());
            final VerbsCompletionQueue queue = counted.client().receiveQueue();
            assertEquals(queue.budget().depth(), receives.post(0, 1, 0, MOST_RECEIVES));
        }
        pair.close();
    }

    @Test
    void shouldRefuseMemoryOfAnotherDomain() {
        try (ProtectionDomain other = ProtectionDomain.create(pair.clientId().context());
             MemoryRegion foreign = other.allocate(LENGTH, VerbsPair.ALL)) {
            final MessageSends sends = MessagePosts.sends(pair.client(), foreign);
            final MessageReceives receives = MessagePosts.receives(pair.client(), foreign);
            for (int i = 0; i < 2; i++) {
                assertThrows(IllegalArgumentException.class, () -> sends.post(0, 64, true, 0, 0));
                assertThrows(IllegalArgumentException.class, () -> receives.post(0, 64, 0, 1));
            }
        }
        pair.close();
    }

    private static int send(final MessageSends sends, final int first) {
        for (int i = first; i < first + MESSAGES; i++) {
            while (!sends.post(0, i % 2 == 0 ? 0 : LENGTH, true, i, i)) {
                Thread.onSpinWait();
            }
        }
        return MESSAGES;
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
