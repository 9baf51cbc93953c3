package io.ringpoll.internal.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WorkRequestIdTest {
    /** The highest counts, before both wrap. */
    private static final long LAST = WorkRequestId.counts(-1);

    @Test
    void shouldCountMessagesAndOtherSendsWhereverTheCountsBegin() {
        for (final long first : new long[] {0, LAST, 0x7FFF_FFFF, LAST - 2, LAST & ~0xFFFF_FFFFL, LAST - (5L << 32)}) {
            long counts = first;
            for (int messages = 0; messages < 70_000; messages++) {
                assertEquals(messages, WorkRequestId.messages(first, counts));
                assertEquals(messages / 7, WorkRequestId.otherSends(first, counts));
                counts = WorkRequestId.afterMessage(counts);
                if (messages % 7 == 6) {
                    counts = WorkRequestId.afterSend(counts);
                }
            }
        }
    }

    @Test
    void shouldNotTakeASendForAReceiveOrAGoodbyeWhenItsCountsWrap() {
        long counts = LAST - (3L << 32) - 3;
        for (int i = 0; i < 8; i++) {
            counts = WorkRequestId.afterMessage(counts);
            assertFalse(WorkRequestId.isReceive(counts));
            assertFalse(WorkRequestId.isGoodbye(counts));
            assertTrue(WorkRequestId.isGoodbye(WorkRequestId.goodbye(counts)));
            assertFalse(WorkRequestId.isReceive(WorkRequestId.goodbye(counts)));
            assertEquals(counts, WorkRequestId.counts(WorkRequestId.goodbye(counts)));
        }
    }

    @Test
    void shouldDistinguishAnOperationFromASendAndFindItsCounts() {
        for (final long counts : new long[] {0, LAST, WorkRequestId.afterMessage(0), WorkRequestId.afterMessage(LAST)}) {
            final long id = WorkRequestId.operation(counts);
            assertTrue(WorkRequestId.isOperation(id));
            assertFalse(WorkRequestId.isOperation(counts));
            assertFalse(WorkRequestId.isOperation(WorkRequestId.goodbye(counts)));
            assertFalse(WorkRequestId.isReceive(id));
            assertFalse(WorkRequestId.isGoodbye(id));
            assertEquals(counts, WorkRequestId.counts(id));
        }
        assertFalse(WorkRequestId.isOperation(WorkRequestId.receive(0, Integer.MAX_VALUE)));
    }

    @Test
    void shouldDistinguishAKeepaliveFromASendAndFindItsCounts() {
        for (final long counts : new long[] {0, LAST, WorkRequestId.afterMessage(0), WorkRequestId.afterMessage(LAST)}) {
            final long id = WorkRequestId.keepalive(counts);
            assertTrue(WorkRequestId.isOther(id));
            assertFalse(WorkRequestId.isOther(counts));
            assertFalse(WorkRequestId.isGoodbye(counts));
            assertTrue(WorkRequestId.isOther(WorkRequestId.goodbye(counts)));
            assertTrue(WorkRequestId.isOther(WorkRequestId.operation(counts)));
            assertFalse(WorkRequestId.isOperation(id));
            assertFalse(WorkRequestId.isReceive(id));
            assertFalse(WorkRequestId.isGoodbye(id));
            assertEquals(counts, WorkRequestId.counts(id));
        }
    }

    @Test
    void shouldFindTheBufferOfAReceive() {
        for (final int buffer : new int[] {0, 1, 65_535, Integer.MAX_VALUE}) {
            final long id = WorkRequestId.receive(0, buffer);
            assertTrue(WorkRequestId.isReceive(id));
            assertFalse(WorkRequestId.isGoodbye(id));
            assertEquals(buffer, WorkRequestId.buffer(id));
        }
    }

    @Test
    void shouldFindEachSendThatIsAMultipleAlsoAfterAWrap() {
        long counts = WorkRequestId.counts(-1L);
        int multiples = 0;
        for (int i = 0; i < 64; i++) {
            counts = i % 3 == 0 ? WorkRequestId.afterSend(counts) : WorkRequestId.afterMessage(counts);
            if (WorkRequestId.isMultipleOf(16, counts)) {
                assertEquals(0, i % 16);
                multiples++;
            }
        }
        assertEquals(4, multiples);
    }

    @Test
    void shouldKeepTheTagOfAConnectionInAllItsIdsAlsoWhenItsCountsWrap() {
        for (final int tag : new int[] {0, 1, 255, 511}) {
            final long begin = WorkRequestId.begin(tag);
            final long other = WorkRequestId.begin(tag + 1);
            assertEquals(begin, WorkRequestId.begin(tag + 512));
            long counts = begin;
            for (int i = 0; i < 600_000; i++) {
                counts = WorkRequestId.afterMessage(counts);
                assertTrue(WorkRequestId.isOf(counts, begin));
            }
            for (final long id : new long[] {begin, counts, WorkRequestId.afterSend(counts), WorkRequestId.goodbye(counts),
                WorkRequestId.operation(counts), WorkRequestId.keepalive(counts), WorkRequestId.receive(begin, 7)}) {
                assertTrue(WorkRequestId.isOf(id, begin));
                assertFalse(WorkRequestId.isOf(id, other));
            }
            assertEquals(7, WorkRequestId.buffer(WorkRequestId.receive(begin, 7)));
            assertEquals(600_000 % (1 << 19), WorkRequestId.messages(begin, counts));
        }
    }
}
