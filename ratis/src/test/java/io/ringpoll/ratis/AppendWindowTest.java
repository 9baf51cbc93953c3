package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class AppendWindowTest {
    private static final AppendEntriesReplyProto ACCEPTED = reply(AppendResult.SUCCESS);
    private static final AppendEntriesReplyProto REFUSED = reply(AppendResult.INCONSISTENCY);

    private AppendWindow window = new AppendWindow(3, Long.MAX_VALUE);

    private static AppendEntriesReplyProto reply(final AppendResult result) {
        return AppendEntriesReplyProto.newBuilder().setResult(result).build();
    }

    private static AppendEntriesRequestProto entries(final long first, final long last) {
        final AppendEntriesRequestProto.Builder request = AppendEntriesRequestProto.newBuilder();
        for (long index = first; index <= last; index++) {
            request.addEntries(LogEntryProto.newBuilder().setTerm(1).setIndex(index));
        }
        return request.build();
    }

    private AppendWindow.Request heartbeat() {
        return window.add(AppendEntriesRequestProto.getDefaultInstance());
    }

    /** A window of a follower that has accepted entry 0. */
    private void follow() {
        accept(window.add(entries(0, 0)));
    }

    private void accept(final AppendWindow.Request request) {
        assertTrue(window.end(request, ACCEPTED, null));
        assertSame(request, window.next());
        window.remove(request);
        assertNull(window.next());
    }

    @Test
    void shouldHaveRoomForOneRequestUntilTheFollowerHasAcceptedOne() {
        assertTrue(window.hasRoom());
        final AppendWindow.Request first = window.add(entries(0, 0));
        assertFalse(first.isAdvancing());
        assertFalse(window.hasRoom());
        accept(first);
        for (int index = 1; index <= 3; index++) {
            assertTrue(window.hasRoom());
            assertTrue(window.add(entries(index, index)).isAdvancing());
        }
        assertFalse(window.hasRoom());
    }

    @Test
    void shouldHaveRoomWhileTheRequestsAreShorterThanTheLimit() {
        final int length = entries(1, 5).getSerializedSize();
        window = new AppendWindow(100, 2 * length);
        follow();
        final AppendWindow.Request first = window.add(entries(1, 5));
        assertTrue(window.hasRoom());
        window.add(entries(6, 10));
        assertFalse(window.hasRoom());
        accept(first);
        assertTrue(window.hasRoom());
    }

    @Test
    void shouldProcessRepliesInTheOrderOfTheRequestsAndOnce() {
        follow();
        final AppendWindow.Request first = window.add(entries(1, 1));
        final AppendWindow.Request second = window.add(entries(2, 2));
        assertFalse(window.end(second, ACCEPTED, null));
        assertTrue(window.end(first, ACCEPTED, null));
        assertFalse(window.end(first, ACCEPTED, null), "a second reply");
        assertSame(first, window.next());
        window.remove(first);
        assertSame(second, window.next());
        window.remove(second);
        assertNull(window.next());
        assertFalse(window.end(second, ACCEPTED, null), "a second reply");
        assertTrue(window.isEmpty());
    }

    @Test
    void shouldLetOneThreadProcessRepliesAtATime() {
        follow();
        final AppendWindow.Request first = window.add(entries(1, 1));
        final AppendWindow.Request second = window.add(entries(2, 2));
        assertTrue(window.end(first, ACCEPTED, null));
        assertSame(first, window.next());
        assertFalse(window.end(second, ACCEPTED, null), "the other thread continues");
        window.remove(first);
        assertSame(second, window.next());
    }

    @Test
    void shouldIgnoreRepliesOfAnEarlierEpoch() {
        follow();
        final AppendWindow.Request first = window.add(entries(1, 2));
        final AppendWindow.Request second = window.add(entries(3, 4));
        final AppendWindow.Request heartbeat = heartbeat();
        assertTrue(window.end(first, null, new IOException("gone")));
        assertSame(first, window.next());
        assertEquals(1, first.setBack());
        assertFalse(window.end(second, ACCEPTED, null));
        assertFalse(window.endHeartbeat(heartbeat, ACCEPTED, null));
        assertNull(window.next());
        window.open();
        final AppendWindow.Request again = window.add(entries(1, 2));
        assertFalse(window.end(second, ACCEPTED, null));
        assertFalse(window.isSteady());
        assertNull(window.next());
        accept(again);
        assertTrue(window.isSteady());
    }

    @Test
    void shouldSendNothingBetweenAFailureAndTheOpening() {
        follow();
        final AppendWindow.Request first = window.add(entries(1, 1));
        final AppendWindow.Request second = window.add(entries(2, 2));
        assertFalse(window.end(second, null, new IOException("gone")));
        assertFalse(window.hasRoom());
        assertFalse(window.hasRoomForHeartbeat());
        assertNull(window.add(entries(3, 3)));
        assertTrue(window.end(first, ACCEPTED, null));
        assertSame(first, window.next());
        window.remove(first);
        assertSame(second, window.next());
        assertEquals(2, second.setBack());
        assertFalse(window.hasRoom());
        window.open();
        assertTrue(window.hasRoom());
        assertTrue(window.hasRoomForHeartbeat());
    }

    @Test
    void shouldHaveRoomForOneHeartbeatBesideTheEntries() {
        follow();
        for (int index = 1; index <= 3; index++) {
            window.add(entries(index, index));
        }
        assertTrue(window.hasRoomForHeartbeat());
        final AppendWindow.Request heartbeat = heartbeat();
        assertFalse(window.hasRoomForHeartbeat());
        assertTrue(window.endHeartbeat(heartbeat, ACCEPTED, null));
        assertFalse(window.endHeartbeat(heartbeat, ACCEPTED, null));
        assertTrue(window.hasRoomForHeartbeat());
        assertFalse(window.hasRoom());
    }

    @Test
    void shouldKeepTheEntriesUnderWayAfterAFailedHeartbeatButNotAfterARefusedOne() {
        follow();
        final AppendWindow.Request entries = window.add(entries(1, 1));
        assertFalse(window.endHeartbeat(heartbeat(), null, new IOException("late")));
        assertTrue(window.hasRoomForHeartbeat());
        assertFalse(window.isEmpty());
        final AppendWindow.Request refused = heartbeat();
        assertTrue(window.endHeartbeat(refused, REFUSED, null));
        assertEquals(1, refused.setBack());
        assertTrue(window.isEmpty());
        assertFalse(window.end(entries, ACCEPTED, null));
    }

    @Test
    void shouldTrustOnlyAHeartbeatThatWasAlone() {
        final AppendWindow.Request entries = window.add(entries(0, 0));
        assertTrue(window.endHeartbeat(heartbeat(), ACCEPTED, null));
        assertFalse(window.isSteady());
        assertTrue(window.end(entries, null, new IOException("gone")));
        assertNotNull(window.next());
        window.open();
        assertTrue(window.endHeartbeat(heartbeat(), ACCEPTED, null));
        assertTrue(window.isSteady());
    }
}
