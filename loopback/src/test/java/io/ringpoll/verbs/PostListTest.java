package io.ringpoll.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.os.Errno;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.VerbsPair;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Chains of prepared requests: room, budget, refusals in the middle, failures of the connection, and wrong arguments. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PostListTest {
    private static final int MANY = 128;

    @Test
    void shouldPostThePartOfAListThatIsAskedFor() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final SendList list = writes(pair, 16);
            assertEquals(0, pair.client().postSend(list, 16, 0));
            assertEquals(3, pair.client().postSend(list, 5, 3));
            for (int i = 5; i < 8; i++) {
                assertEquals(i, pair.nextSuccess(pair.client().sendQueue()).workRequestId());
            }
            pair.assertEmpty(pair.client().sendQueue());
            assertEquals(16, pair.client().postSend(list));
            for (int i = 0; i < 16; i++) {
                assertEquals(i, pair.nextSuccess(pair.client().sendQueue()).workRequestId());
            }
            pair.assertEmpty(pair.client().sendQueue());
        }
    }

    @Test
    void shouldAcceptAsManyAsTheSendQueueHasRoomFor() {
        try (VerbsPair pair = VerbsPair.of(attributes -> attributes.maxSendRequests(7).completionBudget(false))) {
            final SendList list = writes(pair, MANY);
            final int room = pair.client().postSend(list);
            assertTrue(room >= 7 && room < MANY, () -> room + " were accepted");
            // Those of a full queue that does not complete before it is polled.
            for (int i = 0; i < room; i++) {
                assertEquals(i, pair.nextSuccess(pair.client().sendQueue()).workRequestId());
            }
            pair.assertEmpty(pair.client().sendQueue());
        }
    }

    @Test
    void shouldAcceptAsManyAsTheBudgetAllows() {
        try (VerbsPair pair = VerbsPair.of(attributes -> attributes.maxSendRequests(4 * MANY))) {
            final VerbsCompletionQueue queue = pair.client().sendQueue();
            final CompletionBudget budget = queue.budget();
            final SendList list = writes(pair, MANY);
            final int depth = queue.capacity();
            assertEquals(Math.min(MANY, depth), pair.client().postSend(list));
            assertEquals(Math.max(0, Math.min(MANY, depth - MANY)), pair.client().postSend(list));
            assertEquals(Math.min(2 * MANY, depth), budget.inFlight());
            for (int i = 0; i < Math.min(2 * MANY, depth); i++) {
                pair.nextSuccess(queue);
            }
            assertEquals(0, budget.inFlight());
        }
    }

    @Test
    void shouldAcceptAsManyUnsignalledRequestsAsTheBudgetAllows() {
        try (VerbsPair pair = VerbsPair.of(attributes -> attributes.maxSendRequests(4 * MANY))) {
            final VerbsCompletionQueue queue = pair.client().sendQueue();
            final CompletionBudget budget = queue.budget();
            final int depth = queue.capacity();
            final int period = periodOf(depth);
            final int count = Math.min(depth + period, 4 * MANY);
            final SendList list = writes(pair, count);
            for (int i = 0; i < count; i++) {
                list.signaled(i, i % period == period - 1);
            }
            final int first = Math.min(count, depth);
            assertEquals(first, pair.client().postSend(list));
            assertEquals(first, budget.inFlight());
            assertEquals(first < count ? 1 : 0, budget.refused());
            assertEquals(0, pair.client().postSend(list, first, 0));
            for (int i = period - 1; i < first; i += period) {
                assertEquals(i, pair.nextSuccess(queue).workRequestId());
            }
            assertEquals(first % period, budget.inFlight());
            assertEquals(count - first, pair.client().postSend(list, first, count - first));
            assertEquals(count - first + first % period, budget.inFlight());
        }
    }

    /** A distance of signalled requests by which a number of requests ends within a run of unsignalled ones. */
    private static int periodOf(final int requests) {
        int period = 5;
        while (requests % period == 0 || requests % period == period - 1) {
            period++;
        }
        return period;
    }

    @Test
    void shouldTakeBackUnsignalledRequestsThatTheDeviceHasRefused() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final MemoryRegion memory = pair.memory(4096, VerbsPair.ALL);
            final SendList list = writes(pair, 8);
            list.fetchAndAdd(5, memory.remote());
            list.element(5, 0, 0, 4);
            for (final int unsignalled : new int[] {2, 3, 6}) {
                list.signaled(unsignalled, false);
            }
            assertEquals(3, assertThrows(PostException.class, () -> pair.client().postSend(list, 2, 6)).posted());
            final CompletionBudget budget = pair.client().sendQueue().budget();
            assertEquals(3, budget.inFlight());
            assertEquals(4, pair.nextSuccess(pair.client().sendQueue()).workRequestId());
            pair.assertEmpty(pair.client().sendQueue());
            assertEquals(0, budget.inFlight());
            assertEquals(1, pair.client().postSend(list, 2, 1));
            assertEquals(1, budget.inFlight());
        }
    }

    @Test
    void shouldReportHowManyWerePostedBeforeAnInvalidRequest() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final MemoryRegion memory = pair.memory(4096, VerbsPair.ALL);
            final SendList list = writes(pair, 8);
            list.fetchAndAdd(5, memory.remote(), SendFlag.SIGNALED);
            list.element(5, 0, 0, 4);
            final PostException refused = assertThrows(PostException.class, () -> pair.client().postSend(list, 2, 6));
            assertEquals(3, refused.posted());
            assertEquals(Errno.EINVAL, refused.errno());
            assertEquals("ibv_post_send", refused.function());
            for (int i = 2; i < 5; i++) {
                assertEquals(i, pair.nextSuccess(pair.client().sendQueue()).workRequestId());
            }
            pair.assertEmpty(pair.client().sendQueue());
            assertEquals(0, pair.client().sendQueue().budget().inFlight());
            // The chain is whole again.
            list.element(5, 0, 0, 8);
            assertEquals(8, pair.client().postSend(list));
            for (int i = 0; i < 8; i++) {
                pair.nextSuccess(pair.client().sendQueue());
            }
        }
    }

    @Test
    void shouldAcceptAsManyReceivesAsThereIsRoomFor() {
        try (VerbsPair pair = VerbsPair.of(attributes -> attributes.maxReceiveRequests(7).completionBudget(false))) {
            final MemoryRegion memory = pair.memory(64, VerbsPair.ALL);
            final int room = pair.client().postReceive(pair.receives(MANY, memory, 64));
            assertTrue(room >= 7 && room < MANY, () -> room + " were accepted");
        }
    }

    @Test
    void shouldCountReceivesInTheBudget() {
        try (VerbsPair pair = VerbsPair.of(attributes -> attributes.maxReceiveRequests(4 * MANY))) {
            final MemoryRegion memory = pair.memory(64, VerbsPair.ALL);
            final int depth = pair.server().receiveQueue().capacity();
            assertEquals(Math.min(MANY, depth), pair.server().postReceive(pair.receives(MANY, memory, 64)));
            assertEquals(Math.min(MANY, depth), pair.server().receiveQueue().budget().inFlight());
        }
    }

    @Test
    void shouldFlushWhatIsOutstandingAndReleaseTheBudget() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final MemoryRegion memory = pair.memory(64, VerbsPair.ALL);
            assertEquals(5, pair.client().postReceive(pair.receives(5, memory, 64)));
            pair.clientId().disconnect();
            for (int i = 0; i < 5; i++) {
                final WorkCompletion flushed = pair.next(pair.client().receiveQueue());
                assertEquals(WcStatus.WR_FLUSH_ERR, flushed.status());
                assertEquals(i, flushed.workRequestId());
            }
            assertEquals(0, pair.client().receiveQueue().budget().inFlight());
            final SendList list = writes(pair, 2);
            assertEquals(2, pair.client().postSend(list));
            assertEquals(WcStatus.WR_FLUSH_ERR, pair.next(pair.client().sendQueue()).status());
            assertEquals(WcStatus.WR_FLUSH_ERR, pair.next(pair.client().sendQueue()).status());
        }
    }

    @Test
    void shouldReportAWrongKeyOfTheOtherSide() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final MemoryRegion memory = pair.memory(64, VerbsPair.ALL);
            final RemoteMemory right = memory.remote();
            final SendList list = pair.one(memory, 0, 8);
            list.write(0, new RemoteMemory(right.address(), right.lengthBytes(), right.key() ^ 0x5555), SendFlag.SIGNALED);
            assertEquals(1, pair.client().postSend(list));
            assertEquals(WcStatus.REM_ACCESS_ERR, pair.next(pair.client().sendQueue()).status());
        }
    }

    @Test
    void shouldReportARegionThatTheOtherSideMayNotWrite() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final MemoryRegion memory = pair.memory(64, AccessFlag.LOCAL_WRITE);
            final SendList list = pair.one(memory, 0, 8);
            list.write(0, memory.remote(), SendFlag.SIGNALED);
            assertEquals(1, pair.client().postSend(list));
            assertEquals(WcStatus.REM_ACCESS_ERR, pair.next(pair.client().sendQueue()).status());
        }
    }

    @Test
    void shouldReportThatTheReceiverIsNotReady() {
        try (VerbsPair pair = VerbsPair.of(attributes -> { }, ConnectionParameters.create().rnrRetryCount(0))) {
            final SendList list = pair.one(pair.memory(64), 0, 8);
            list.send(0, SendFlag.SIGNALED);
            assertEquals(1, pair.client().postSend(list));
            assertEquals(WcStatus.RNR_RETRY_EXC_ERR, pair.next(pair.client().sendQueue()).status());
        }
    }

    @Test
    void shouldReportAMessageThatIsTooLongForItsReceive() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final MemoryRegion memory = pair.memory(64, VerbsPair.ALL);
            pair.receive(pair.server(), memory, 4);
            final SendList list = pair.one(memory, 0, 8);
            list.send(0, SendFlag.SIGNALED);
            assertEquals(1, pair.client().postSend(list));
            // DeviceDifferencesTest
            assertEquals(TestDevice.isLoopback() ? WcStatus.REM_INV_REQ_ERR : WcStatus.REM_OP_ERR,
                pair.next(pair.client().sendQueue()).status());
            assertEquals(TestDevice.isLoopback() ? WcStatus.LOC_LEN_ERR : WcStatus.LOC_QP_OP_ERR,
                pair.next(pair.server().receiveQueue()).status());
        }
    }

    @Test
    void shouldRefuseWrongArgumentsBeforeTheCall() {
        try (VerbsPair pair = VerbsPair.ofDefaults(); SendList list = SendList.allocate(2, 2)) {
            final MemoryRegion memory = pair.memory(64, VerbsPair.ALL);
            final QueuePair client = pair.client();
            assertThrows(IllegalStateException.class, () -> client.postSend(list), "not prepared");
            list.send(0);
            list.send(1);
            assertThrows(IndexOutOfBoundsException.class, () -> client.postSend(list, 1, 2));
            assertThrows(IndexOutOfBoundsException.class, () -> client.postSend(list, -1, 1));
            assertThrows(IndexOutOfBoundsException.class, () -> client.postSend(list, Integer.MAX_VALUE, 2));
            assertThrows(IndexOutOfBoundsException.class, () -> client.postSend(list, 0, -1));
            assertThrows(IndexOutOfBoundsException.class, () -> list.send(2));
            assertThrows(IndexOutOfBoundsException.class, () -> list.workRequestId(-1, 0));
            assertThrows(IndexOutOfBoundsException.class, () -> list.element(0, 0, 0, 1), "no element");
            assertThrows(IllegalArgumentException.class, () -> list.elements(0, memory, memory, memory));
            list.elements(0, memory, memory);
            assertThrows(IndexOutOfBoundsException.class, () -> list.element(0, 2, 0, 1));
            assertThrows(IndexOutOfBoundsException.class, () -> list.element(0, 0, 60, 5));
            assertThrows(IndexOutOfBoundsException.class, () -> list.element(0, 0, -1, 1));
            assertThrows(IndexOutOfBoundsException.class, () -> list.element(0, 0, 0, -1));
            assertThrows(IllegalStateException.class, () -> list.remoteOffset(0, 0), "no remote memory");
            assertThrows(IllegalStateException.class, () -> list.operands(0, 0, 0), "not atomic");
            assertThrows(IllegalArgumentException.class, () -> list.read(0, memory.remote(), SendFlag.INLINE));
            list.write(0, memory.remote());
            assertThrows(IndexOutOfBoundsException.class, () -> list.remoteOffset(0, 65));
            assertThrows(IllegalArgumentException.class, () -> SendList.allocate(0, 1));
            assertThrows(IllegalArgumentException.class, () -> ReceiveList.allocate(1, 17));
            assertThrows(IllegalArgumentException.class, () -> ReceiveList.allocate(PostList.MAX_CAPACITY + 1, 1));
            pair.assertEmpty(client.sendQueue());
            assertEquals(0, client.sendQueue().budget().inFlight());
        }
    }

    @Test
    void shouldNameTheRangeOfAPostThatIsOutsideOfItsList() {
        try (VerbsPair pair = VerbsPair.ofDefaults(); SendList list = SendList.allocate(2, 2)) {
            for (final int first : new int[] {Integer.MIN_VALUE, Integer.MIN_VALUE + 1, -1, 2, Integer.MAX_VALUE}) {
                assertEquals("Range [" + first + ", " + first + " + 1) out of bounds for length 2",
                    assertThrows(IndexOutOfBoundsException.class, () -> pair.client().postSend(list, first, 1)).getMessage());
            }
        }
    }

    /** Whichever of offset and length is set last; the connection and the other requests of the list stay usable. */
    @Test
    void shouldRefuseAPieceThatEndsAfterItsRemoteMemory() {
        try (VerbsPair pair = VerbsPair.of(attributes -> attributes.maxSendElements(2).maxInlineBytes(16))) {
            final MemoryRegion memory = pair.memory(64, VerbsPair.ALL);
            final SendList list = pair.closed(SendList.allocate(2, 2));
            for (final SendFlag flag : List.of(SendFlag.SIGNALED, SendFlag.INLINE)) {
                list.write(0, memory.remote(), SendFlag.SIGNALED);
                list.write(1, memory.remote(), flag);
                list.elements(0, memory);
                list.elements(1, memory, memory);
                list.element(1, 0, 0, 8);
                list.remoteOffset(1, 56);
                list.element(1, 1, 0, 1);
                assertTooLong(pair, list, "9 bytes; its remote memory has 8 from its offset on");
                list.element(1, 1, 0, 0);
                list.remoteOffset(1, 63);
                assertTooLong(pair, list, "8 bytes; its remote memory has 1 from its offset on");
            }
            list.read(1, memory.remote(), SendFlag.SIGNALED);
            list.remoteOffset(1, 64);
            assertTooLong(pair, list, "8 bytes; its remote memory has 0 from its offset on");
            list.writeWithImmediate(1, new RemoteMemory(memory.memoryAddress(), 4, memory.remoteKey()), SendFlag.SIGNALED);
            assertTooLong(pair, list, "8 bytes; its remote memory has 4 from its offset on");
            list.write(1, memory.remote(), SendFlag.SIGNALED);
            list.remoteOffset(1, 56);
            assertPostedBoth(pair, list);
            list.element(1, 0, 0, 0);
            list.remoteOffset(1, 64);
            assertPostedBoth(pair, list);
        }
    }

    private static void assertTooLong(final VerbsPair pair, final SendList list, final String end) {
        final String message = assertThrows(IndexOutOfBoundsException.class, () -> pair.client().postSend(list)).getMessage();
        assertEquals("request 1 of " + list.name() + " has " + end, message);
        assertNothingPosted(pair);
    }

    private static void assertNothingPosted(final VerbsPair pair) {
        pair.assertEmpty(pair.client().sendQueue());
        assertEquals(0, pair.client().sendQueue().budget().inFlight());
    }

    private static void assertPostedBoth(final VerbsPair pair, final SendList list) {
        assertEquals(2, pair.client().postSend(list));
        pair.nextSuccess(pair.client().sendQueue());
        pair.nextSuccess(pair.client().sendQueue());
    }

    @Test
    void shouldRefuseAnAtomicOutsideOfItsRemoteMemoryOrAtAnUnalignedAddress() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final MemoryRegion memory = pair.memory(64, VerbsPair.ALL);
            final SendList list = pair.one(memory, 0, 8);
            list.compareAndSwap(0, new RemoteMemory(memory.memoryAddress() + 4, 20, memory.remoteKey()), SendFlag.SIGNALED);
            assertThrows(IllegalArgumentException.class, () -> pair.client().postSend(list), "begins at a multiple of 4");
            assertThrows(IndexOutOfBoundsException.class, () -> list.remoteOffset(0, -4));
            assertThrows(IllegalArgumentException.class, () -> list.remoteOffset(0, 8));
            assertThrows(IndexOutOfBoundsException.class, () -> list.remoteOffset(0, 13));
            assertThrows(IllegalArgumentException.class, () -> pair.client().postSend(list), "the offset was not set");
            list.remoteOffset(0, 12);
            assertEquals(1, pair.client().postSend(list));
            pair.nextSuccess(pair.client().sendQueue());
            list.fetchAndAdd(0, new RemoteMemory(memory.memoryAddress(), 7, memory.remoteKey()), SendFlag.SIGNALED);
            assertThrows(IndexOutOfBoundsException.class, () -> pair.client().postSend(list));
            assertThrows(IndexOutOfBoundsException.class, () -> list.remoteOffset(0, 0));
            // No alignment is asked of other requests, nor of a request that was atomic.
            list.write(0, memory.remote(), SendFlag.SIGNALED);
            list.remoteOffset(0, 3);
            assertEquals(1, pair.client().postSend(list));
            pair.nextSuccess(pair.client().sendQueue());
            assertNothingPosted(pair);
        }
    }

    /** The device takes 8 bytes of it, whatever the length of the elements is. */
    @Test
    void shouldRefuseAnAtomicWhoseRemoteMemoryIsTooShortWithAnyElements() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final MemoryRegion memory = pair.memory(64, VerbsPair.ALL);
            final SendList list = pair.one(memory, 0, 4);
            for (int lengthBytes = Long.BYTES - 1; lengthBytes >= 0; lengthBytes--) {
                final RemoteMemory tooShort = new RemoteMemory(memory.memoryAddress(), lengthBytes, memory.remoteKey());
                list.fetchAndAdd(0, tooShort, SendFlag.SIGNALED);
                assertTooShort(pair, list, lengthBytes);
                list.compareAndSwap(0, tooShort, SendFlag.SIGNALED);
                list.element(0, 0, 0, 0);
                assertTooShort(pair, list, lengthBytes);
                list.elements(0);
                assertTooShort(pair, list, lengthBytes);
                list.elements(0, memory);
                list.element(0, 0, 0, 4);
            }
            list.fetchAndAdd(0, new RemoteMemory(memory.memoryAddress(), 8, memory.remoteKey()), SendFlag.SIGNALED);
            list.element(0, 0, 0, 8);
            assertEquals(1, pair.client().postSend(list));
            pair.nextSuccess(pair.client().sendQueue());
        }
    }

    private static void assertTooShort(final VerbsPair pair, final SendList list, final int lengthBytes) {
        assertEquals("request 0 of " + list.name() + " is atomic and takes 8 bytes; its remote memory has " + lengthBytes,
            assertThrows(IndexOutOfBoundsException.class, () -> pair.client().postSend(list)).getMessage());
        assertNothingPosted(pair);
    }

    @Test
    void shouldRefuseMoreInlineBytesAndElementsThanTheQueuePairTakes() {
        try (VerbsPair pair = VerbsPair.ofDefaults(); SendList list = SendList.allocate(2, PostList.MAX_ELEMENTS)) {
            final MemoryRegion memory = pair.memory(4096);
            list.send(0);
            list.elements(0, memory);
            list.send(1, SendFlag.INLINE);
            list.elements(1, memory);
            list.element(1, 0, 0, 4096);
            assertThrows(IllegalArgumentException.class, () -> pair.client().postSend(list));
            assertEquals(0, pair.client().sendQueue().budget().inFlight());
            if (pair.client().maxSendElements() < PostList.MAX_ELEMENTS) {
                final MemoryRegion[] regions = new MemoryRegion[PostList.MAX_ELEMENTS];
                Arrays.fill(regions, memory);
                list.elements(0, regions);
                assertThrows(IllegalArgumentException.class, () -> pair.client().postSend(list, 0, 1));
            }
        }
    }

    /** Its key is unknown there or, of another device, that of other memory. An inline request needs no key. */
    @Test
    void shouldRefuseMemoryOfAnotherProtectionDomain() {
        try (VerbsPair pair = VerbsPair.of(attributes -> attributes.maxSendElements(2).maxInlineBytes(8));
            ProtectionDomain foreign = ProtectionDomain.create(pair.clientId().context());
            MemoryRegion other = foreign.allocate(64, VerbsPair.ALL);
            SharedReceiveQueue shared = SharedReceiveQueue.create(pair.domain(), 4, 1);
            ReceiveList receives = ReceiveList.allocate(1, 1); SendList list = SendList.allocate(2, 2)) {
            final MemoryRegion own = pair.memory(64, VerbsPair.ALL);
            list.write(0, own.remote(), SendFlag.SIGNALED);
            list.write(1, own.remote(), SendFlag.SIGNALED);
            assertOfSeveralDomains(list, own, other);
            list.elements(0, own);
            assertOfSeveralDomains(list, other, own);
            list.elements(1, other, other);
            assertOfAnotherDomain("the memory of request 1 of " + list.name(), pair.client(), () -> pair.client().postSend(list));
            assertNothingPosted(pair);
            assertEquals(1, pair.client().postSend(list, 0, 1));
            pair.nextSuccess(pair.client().sendQueue());
            list.write(1, own.remote(), SendFlag.SIGNALED, SendFlag.INLINE);
            list.element(1, 1, 8, 8);
            assertPostedBoth(pair, list);
            receives.elements(0, other);
            assertOfAnotherDomain(
                "the memory of request 0 of " + receives.name(), pair.client(), () -> pair.client().postReceive(receives));
            assertOfAnotherDomain("the memory of request 0 of " + receives.name(), shared, () -> shared.postReceive(receives));
            assertEquals(0, pair.client().receiveQueue().budget().inFlight());
            receives.elements(0);
            assertEquals(1, shared.postReceive(receives));
        }
    }

    private static void assertOfSeveralDomains(final SendList list, final MemoryRegion... regions) {
        assertEquals("the regions of a request of " + list.name() + " are of several protection domains",
            assertThrows(IllegalArgumentException.class, () -> list.elements(0, regions)).getMessage());
    }

    private static void assertOfAnotherDomain(final String memory, final NativeResource queue, final Executable post) {
        assertEquals(memory + " is of another protection domain than " + queue.name(),
            assertThrows(IllegalArgumentException.class, post).getMessage());
    }

    @Test
    void shouldKeepTheRegionsOfAListOpen() {
        try (VerbsPair pair = VerbsPair.ofDefaults(); MemoryRegion one = pair.domain().allocate(64);
            MemoryRegion two = pair.domain().allocate(64)) {
            final SendList list = SendList.allocate(2, 2);
            list.elements(0, one, two);
            list.elements(1, one);
            final String message = assertThrows(IllegalStateException.class, two::close).getMessage();
            assertTrue(message.contains(list.name()), message);
            list.elements(0, one);
            two.close();
            assertThrows(IllegalStateException.class, () -> list.elements(0, two));
            list.elements(0);
            assertThrows(IllegalStateException.class, one::close);
            list.close();
            list.close();
            assertThrows(IllegalStateException.class, () -> list.elements(0, one));
            assertThrows(IllegalStateException.class, () -> list.workRequestId(0, 1));
            assertThrows(IllegalStateException.class, () -> pair.client().postSend(list));
        }
    }

    @Test
    void shouldLeaveTheElementsAsTheyAreIfOneRegionCannotBeUsed() {
        try (VerbsPair pair = VerbsPair.of(attributes -> attributes.maxSendElements(2).maxInlineBytes(16));
            MemoryRegion one = pair.domain().allocate(64); MemoryRegion two = pair.domain().allocate(64);
            MemoryRegion closed = pair.domain().allocate(64)) {
            closed.close();
            final SendList list = writes(pair, 1, 2);
            list.element(0, 0, 0, 16);
            assertThrows(IllegalStateException.class, () -> list.elements(0, one, closed));
            assertThrows(NullPointerException.class, () -> list.elements(0, two, null));
            // The list needs neither of them.
            one.close();
            two.close();
            list.element(0, 0, 8, 16);
            list.write(0, pair.memory(64, VerbsPair.ALL).remote(), SendFlag.SIGNALED, SendFlag.INLINE);
            assertEquals(1, pair.client().postSend(list));
            pair.nextSuccess(pair.client().sendQueue());
        }
    }

    @Test
    void shouldNameAListThatIsClosed() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final SendList list = writes(pair, 2);
            list.fetchAndAdd(1, pair.memory(8, VerbsPair.ALL).remote());
            list.close();
            final List<Executable> uses = List.of(() -> list.workRequestId(0, 1), () -> list.element(0, 0, 0, 8),
                () -> list.elements(0), () -> list.remoteOffset(0, 0), () -> list.immediate(0, 1), () -> list.signaled(0, true),
                () -> list.operands(1, 1, 0), () -> list.send(0), () -> pair.client().postSend(list, 0, 0));
            for (final Executable use : uses) {
                assertEquals(list.name() + " is closed", assertThrows(IllegalStateException.class, use).getMessage());
            }
        }
    }

    @Test
    void shouldCountACompletionQueueForOneQueuePair() {
        try (VerbsPair pair = VerbsPair.ofDefaults(); Listener listener = Listener.listen(VerbsPair.anyAddress(), 1);
            ConnectionId id = ConnectionId.resolve(VerbsPair.at(listener), VerbsPair.TIMEOUT_MS)) {
            final QueuePairAttributes shared = QueuePairAttributes.create(pair.client().sendQueue());
            assertThrows(IllegalStateException.class, () -> id.createQueuePair(pair.domain(), shared));
            assertThrows(IllegalStateException.class, () -> id.createQueuePair(pair.domain(), shared.completionBudget(false)));
            try (VerbsCompletionQueue queue = VerbsCompletionQueue.create(id.context(), "again", 16, null)) {
                id.createQueuePair(pair.domain(), QueuePairAttributes.create(queue)).close();
                id.createQueuePair(pair.domain(), QueuePairAttributes.create(queue)).close();
            }
        }
    }

    /** The budget does not count the posts of the other one, so that both together could overrun the queue. */
    @Test
    void shouldRefuseACountedAndAnUncountedQueuePairOnOneCompletionQueue() {
        try (VerbsPair pair = VerbsPair.ofDefaults(); Listener listener = Listener.listen(VerbsPair.anyAddress(), 1);
            ConnectionId one = ConnectionId.resolve(VerbsPair.at(listener), VerbsPair.TIMEOUT_MS);
            ConnectionId two = ConnectionId.resolve(VerbsPair.at(listener), VerbsPair.TIMEOUT_MS);
            VerbsCompletionQueue queue = VerbsCompletionQueue.create(one.context(), "shared", 16, null);
            VerbsCompletionQueue own = VerbsCompletionQueue.create(one.context(), "own", 16, null)) {
            final QueuePairAttributes counted = QueuePairAttributes.create(queue);
            final List<QueuePairAttributes> uncounted = List.of(QueuePairAttributes.create(queue).completionBudget(false),
                QueuePairAttributes.create(own, queue).completionBudget(false),
                QueuePairAttributes.create(queue, own).completionBudget(false));
            for (final QueuePairAttributes each : uncounted) {
                try (QueuePair first = one.createQueuePair(pair.domain(), counted)) {
                    assertRefused("shared is counted for another queue pair", two, pair, each, first);
                }
                try (QueuePair first = one.createQueuePair(pair.domain(), each)) {
                    assertRefused("shared completes requests of another queue pair", two, pair, counted, first);
                    two.createQueuePair(pair.domain(), each).close();
                    assertRefused("shared completes requests of another queue pair", two, pair, counted, first);
                }
                two.createQueuePair(pair.domain(), counted).close();
            }
        }
    }

    /** The queue pair is refused, and the other queue serves the next one. */
    @Test
    void shouldLeaveTheQueuesOfAQueuePairThatIsRefusedWhileAnotherThreadClosesOne() throws Exception {
        final AtomicReference<VerbsCompletionQueue> receives = new AtomicReference<>();
        final AtomicBoolean stop = new AtomicBoolean();
        try (VerbsPair pair = VerbsPair.ofDefaults(); Listener listener = Listener.listen(VerbsPair.anyAddress(), 1);
            ConnectionId id = ConnectionId.resolve(VerbsPair.at(listener), VerbsPair.TIMEOUT_MS);
            VerbsCompletionQueue sends = VerbsCompletionQueue.create(id.context(), "sends", 16, null)) {
            receives.set(VerbsCompletionQueue.create(id.context(), "receives", 16, null));
            final FutureTask<Void> closes = new FutureTask<>(() -> closeAndRecreate(id, receives, stop), null);
            new Thread(closes, "closes").start();
            try {
                int refused = 0;
                while (refused < 20) {
                    try {
                        id.createQueuePair(pair.domain(), QueuePairAttributes.create(sends, receives.get())).close();
                    } catch (final IllegalStateException closed) {
                        assertTrue(closed.getMessage().startsWith("receives "), closed.getMessage());
                        refused++;
                    }
                }
            } finally {
                stop.set(true);
                closes.get(30, TimeUnit.SECONDS);
                receives.get().close();
            }
            id.createQueuePair(pair.domain(), QueuePairAttributes.create(sends)).close();
        }
    }

    private static void closeAndRecreate(
        final ConnectionId id, final AtomicReference<VerbsCompletionQueue> receives, final AtomicBoolean stop) {
        while (!stop.get()) {
            try {
                receives.get().close();
                receives.set(VerbsCompletionQueue.create(id.context(), "receives", 16, null));
            } catch (final IllegalStateException used) {
                Thread.onSpinWait();
            }
        }
    }

    private static void assertRefused(final String message, final ConnectionId id, final VerbsPair pair,
        final QueuePairAttributes attributes, final QueuePair first) {
        final IllegalStateException refused =
            assertThrows(IllegalStateException.class, () -> id.createQueuePair(pair.domain(), attributes));
        assertTrue(refused.getMessage().startsWith(message), refused.getMessage());
        assertTrue(refused.getMessage().contains("need completionBudget(false)"), refused.getMessage());
        assertTrue(first.number() != 0);
    }

    /** No budget counts the receives of a shared receive queue. */
    @Test
    void shouldRefuseACountedQueuePairWhereReceivesOfASharedReceiveQueueComplete() {
        try (VerbsPair pair = VerbsPair.ofDefaults(); Listener listener = Listener.listen(VerbsPair.anyAddress(), 1);
            SharedReceiveQueue shared = SharedReceiveQueue.create(pair.domain(), 4, 1);
            ConnectionId one = ConnectionId.resolve(VerbsPair.at(listener), VerbsPair.TIMEOUT_MS);
            ConnectionId two = ConnectionId.resolve(VerbsPair.at(listener), VerbsPair.TIMEOUT_MS);
            VerbsCompletionQueue receives = VerbsCompletionQueue.create(one.context(), "receives", 16, null);
            VerbsCompletionQueue sends = VerbsCompletionQueue.create(one.context(), "sends", 16, null);
            VerbsCompletionQueue others = VerbsCompletionQueue.create(one.context(), "others", 16, null);
            QueuePair first = one.createQueuePair(
                pair.domain(), QueuePairAttributes.create(sends, receives).sharedReceiveQueue(shared))) {
            assertRefused("receives completes", two, pair, QueuePairAttributes.create(receives), first);
            two.createQueuePair(
                pair.domain(), QueuePairAttributes.create(others, receives).sharedReceiveQueue(shared)).close();
        }
    }

    /** Signalled writes of 8 bytes, numbered from 0. */
    private static SendList writes(final VerbsPair pair, final int count) {
        return writes(pair, count, 1);
    }

    private static SendList writes(final VerbsPair pair, final int count, final int maxElements) {
        final MemoryRegion memory = pair.memory(4096, VerbsPair.ALL);
        final SendList list = pair.closed(SendList.allocate(count, maxElements));
        for (int i = 0; i < count; i++) {
            list.write(i, memory.remote(), SendFlag.SIGNALED);
            list.elements(i, memory);
            list.element(i, 0, 0, 8);
            list.remoteOffset(i, 64);
            list.workRequestId(i, i);
        }
        return list;
    }
}
