package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class AppendQueueTest {
    private static final String REMOVED = ": the group has been removed";

    private final List<String> events = new ArrayList<>();
    private Object group = "the group";
    private boolean closing;
    private final AppendQueue queue = new AppendQueue(task -> {
        if (closing) {
            throw new RejectedExecutionException("closing");
        }
        task.run();
    }, () -> group);

    private AppendQueue.Request add(final String leader, final long first, final long last) {
        final AppendEntriesRequestProto.Builder message = AppendEntriesRequestProto.newBuilder().setServerRequest(
            RaftRpcRequestProto.newBuilder().setRequestorId(ByteString.copyFromUtf8(leader)));
        for (long index = first; index <= last; index++) {
            message.addEntries(LogEntryProto.newBuilder().setIndex(index));
        }
        final String name = leader + first + "-" + last;
        final CompletableFuture<Object> result = new CompletableFuture<>();
        result.whenComplete((reply, failure) -> events.add(name + ": " + failure.getMessage()));
        final AppendQueue.Request request = new AppendQueue.Request(
            message.build(), () -> events.add(name), () -> events.add(name + " dropped"), result);
        queue.add(request);
        return request;
    }

    private void assertEvents(final String... expected) {
        assertEquals(List.of(expected), events);
        events.clear();
    }

    @Test
    void shouldPassRequestsWithoutCommonEntriesAtOnce() {
        add("a", 5, 6);
        add("a", 7, 7);
        add("a", 8, 9);
        assertEvents("a5-6", "a7-7", "a8-9");
    }

    @Test
    void shouldHoldARequestUntilThoseWithItsEntriesHaveEnded() {
        final AppendQueue.Request first = add("a", 5, 6);
        final AppendQueue.Request second = add("a", 7, 9);
        add("a", 6, 8);
        assertEvents("a5-6", "a7-9");
        queue.end(second);
        assertEvents();
        queue.end(first);
        assertEvents("a6-8");
    }

    @Test
    void shouldKeepTheOrderBehindAHeldRequest() {
        final AppendQueue.Request pending = add("a", 5, 6);
        final AppendQueue.Request again = add("a", 5, 9);
        add("a", 10, 10);
        add("a", 11, 12);
        assertEvents("a5-6");
        queue.end(pending);
        assertEvents("a5-9", "a10-10", "a11-12");
        add("b", 9, 9);
        assertEvents();
        queue.end(again);
        assertEvents("b9-9");
    }

    @Test
    void shouldDropHeldRequestsThatTheirLeaderRepeats() {
        final AppendQueue.Request pending = add("a", 5, 6);
        add("a", 5, 7);
        add("a", 8, 8);
        add("b", 6, 6);
        add("a", 5, 9);
        assertEvents("a5-6", "a5-7 dropped", "a5-7: the leader has repeated the request", "a8-8 dropped",
            "a8-8: the leader has repeated the request");
        queue.end(pending);
        assertEvents("b6-6");
    }

    @Test
    void shouldForgetThePendingRequestsOfARemovedGroup() {
        add("a", 5, 6);
        group = null;
        add("a", 5, 6);
        group = "added again";
        add("a", 5, 6);
        assertEvents("a5-6", "a5-6" + REMOVED, "a5-6", "a5-6" + REMOVED, "a5-6");
    }

    @Test
    void shouldFailAllRequestsOfARemovedGroup() {
        add("a", 5, 6);
        add("a", 5, 9);
        assertTrue(queue.close(queue.latestGroup()));
        assertEvents("a5-6", "a5-6" + REMOVED, "a5-9 dropped", "a5-9" + REMOVED);
        assertThrows(RejectedExecutionException.class, () -> add("a", 5, 6));
        assertEvents();
    }

    @Test
    void shouldNotCloseForAGroupThatHasBeenAddedAgain() {
        add("a", 5, 6);
        final Object removed = queue.latestGroup();
        group = "added again";
        add("a", 7, 7);
        events.clear();
        assertFalse(queue.close(removed));
        add("a", 7, 8);
        assertEvents();
    }

    @Test
    void shouldForgetARequestThatIsRejected() {
        closing = true;
        assertThrows(RejectedExecutionException.class, () -> add("a", 5, 6));
        closing = false;
        add("a", 5, 6);
        assertEvents("a5-6");
    }
}
