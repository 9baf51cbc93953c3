package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.ringpoll.os.Errno;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.rpma.RpmaError;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Polls write where the caller's records are, and nowhere else. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class WorkCompletionsTest {
    @Test
    void shouldPollIntoTheRecordsThatAreNamed() {
        final WorkCompletions records = WorkCompletions.allocate(4);
        final WorkCompletion completion = new WorkCompletion();
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 7);
            int got = 0;
            while (got == 0) {
                got = queue.poll(records, 3, 1);
            }
            assertEquals(1, got);
            assertEquals(7, records.show(3, completion).workRequestId());
            assertEquals(0, records.show(2, completion).workRequestId());
        }
    }

    @Test
    void shouldRefuseToPollBeyondTheRecords() {
        final WorkCompletions records = WorkCompletions.allocate(4);
        try (ConnectedPair pair = ConnectedPair.ofDefaults();
            VerbsCompletionQueue verbs = pair.client().completionQueue().openVerbs()) {
            for (final CompletionQueue queue : new CompletionQueue[]{pair.client().completionQueue(), verbs}) {
                assertThrows(IndexOutOfBoundsException.class, () -> queue.poll(records, 0, 5));
                assertThrows(IndexOutOfBoundsException.class, () -> queue.poll(records, 4, 1));
                assertThrows(IndexOutOfBoundsException.class, () -> queue.poll(records, -1, 1));
                assertThrows(IndexOutOfBoundsException.class, () -> queue.poll(records, 0, -1));
                assertThrows(IndexOutOfBoundsException.class, () -> queue.poll(records, Integer.MAX_VALUE, 2));
                assertThrows(NullPointerException.class, () -> queue.poll(null, 0, 1));
                assertEquals(0, queue.poll(records, 0, 4));
            }
            assertEquals(RpmaError.INVAL, pair.client().completionQueue().poll(records, 0, 0));
            assertEquals(-Errno.EINVAL, verbs.poll(records, 4, 0));
        }
    }

    @Test
    void shouldRefuseMemoryThatADeviceCannotWrite() {
        final UnsafeBuffer heap = new UnsafeBuffer(new byte[10 * IbvWc.SIZE_BYTES]);
        final UnsafeBuffer direct = new UnsafeBuffer(BufferUtil.allocateDirectAligned(10 * IbvWc.SIZE_BYTES, Long.BYTES));
        assertThrows(IllegalArgumentException.class, () -> WorkCompletions.in(heap, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> WorkCompletions.in(direct, 4, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> WorkCompletions.in(direct, 0, 11));
        assertThrows(IndexOutOfBoundsException.class, () -> WorkCompletions.in(direct, -8, 1));
        assertThrows(IllegalArgumentException.class, () -> WorkCompletions.in(direct, 0, 0));
        final int tooMany = Integer.MAX_VALUE / IbvWc.SIZE_BYTES + 1;
        assertThrows(IllegalArgumentException.class, () -> WorkCompletions.in(direct, 0, tooMany));
        assertThrows(IllegalArgumentException.class, () -> WorkCompletions.allocate(0));
        assertThrows(IllegalArgumentException.class, () -> WorkCompletions.allocate(-1));
        assertThrows(IndexOutOfBoundsException.class, () -> WorkCompletions.allocate(2).show(2, new WorkCompletion()));
        assertEquals(9, WorkCompletions.in(direct, IbvWc.SIZE_BYTES, 9).capacity());
        final UnsafeBuffer readOnly = new UnsafeBuffer(direct.byteBuffer().asReadOnlyBuffer());
        assertThrows(IllegalArgumentException.class, () -> WorkCompletions.in(readOnly, 0, 1));
    }

    @Test
    void shouldNotPollIntoMemoryThatItsBufferShowsNoMore() {
        final UnsafeBuffer buffer = new UnsafeBuffer(BufferUtil.allocateDirectAligned(4 * IbvWc.SIZE_BYTES, Long.BYTES));
        final UnsafeBuffer same = new UnsafeBuffer(buffer);
        final UnsafeBuffer other = new UnsafeBuffer(BufferUtil.allocateDirectAligned(4 * IbvWc.SIZE_BYTES, Long.BYTES));
        final WorkCompletions records = WorkCompletions.in(buffer, IbvWc.SIZE_BYTES, 3);
        try (ConnectedPair pair = ConnectedPair.ofDefaults();
            VerbsCompletionQueue verbs = pair.client().completionQueue().openVerbs()) {
            for (final CompletionQueue queue : new CompletionQueue[]{pair.client().completionQueue(), verbs}) {
                assertEquals(0, queue.poll(records, 0, 3));
                buffer.wrap(other);
                assertThrows(IllegalStateException.class, () -> queue.poll(records, 0, 3));
                buffer.wrap(0L, 0);
                assertThrows(IllegalStateException.class, () -> queue.poll(records, 0, 3));
                buffer.wrap(same);
            }
        }
    }
}
