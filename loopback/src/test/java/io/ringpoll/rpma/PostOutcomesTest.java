package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.internal.lifecycle.HotCalls;
import io.ringpoll.internal.lifecycle.HotMark;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.PollFault;
import io.ringpoll.testing.TestDevice;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every kind of post, refused in every way: afterwards its call is over, and the budget counts the requests of the device. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PostOutcomesTest {
    private static final int LENGTH = 64;
    private static final int SMALL = 8;
    private static final int LARGE = 1024;
    private static final CompletionFlag FLAG = CompletionFlag.ALWAYS;

    /** One kind of post on a connection, of bytes from an offset on. */
    private interface Post {
        boolean on(Connection connection, LocalMemoryRegion mine, RemoteMemoryRegion remote, long offset);
    }

    /** One kind of post on a connection, of some bytes without memory. */
    private interface LongPost {
        boolean on(Connection connection, long lengthBytes);
    }

    private final HotCalls own = HotCalls.register(PostOutcomesTest.class);

    @AfterEach
    void discard() {
        own.discard();
    }

    /** The calls of this thread that have ended in the meantime; the first use of a connection by a thread counts as one more. */
    private int callsEndedBy(final Runnable use) {
        use.run();
        final int before = endedCalls();
        use.run();
        return endedCalls() - before - 1;
    }

    private int endedCalls() {
        final HotMark mark = own.enter();
        try {
            return mark.turn();
        } finally {
            mark.leave();
        }
    }

    @Test
    void shouldEndTheCallOfEveryAcceptedPost() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(LARGE).sqSize(LARGE).rqSize(LARGE))) {
            final LocalMemoryRegion mine = pair.memory(LENGTH);
            final RemoteMemoryRegion remote = pair.remote(mine);
            posts().forEach((name, post) ->
                assertEquals(1, callsEndedBy(() -> assertTrue(post.on(pair.client(), mine, remote, 0), name)), name));
        }
    }

    @Test
    void shouldEndTheCallOfEveryPoll() {
        final Completions completions = new Completions();
        final LegacyCompletion legacy = new LegacyCompletion();
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            try (VerbsCompletionQueue verbs = queue.openVerbs()) {
                assertEquals(1, callsEndedBy(() -> assertEquals(0, verbs.poll(completions.records(), 0, 1))));
                assertEquals(1, callsEndedBy(() -> assertThrows(IndexOutOfBoundsException.class,
                    () -> verbs.poll(completions.records(), -1, 1))));
            }
            assertEquals(1, callsEndedBy(() -> assertEquals(0, queue.poll(completions.records(), 0, 1))));
            assertEquals(1, callsEndedBy(() -> assertThrows(IndexOutOfBoundsException.class,
                () -> queue.poll(completions.records(), -1, 1))));
            assertEquals(1, callsEndedBy(() -> assertEquals(RpmaError.NO_COMPLETION, queue.getCompletion(legacy))));
            PollFault.whileFailing(pair.peer().context(), () -> assertEquals(1,
                callsEndedBy(() -> assertEquals(RpmaError.PROVIDER, queue.getCompletion(legacy)))));
        }
    }

    @Test
    void shouldRefuseEveryPostThatTheBudgetHasNoRoomFor() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(SMALL).sqSize(LARGE).rqSize(LARGE))) {
            final Connection client = pair.client();
            final LocalMemoryRegion mine = pair.memory(LENGTH);
            final RemoteMemoryRegion remote = pair.remote(mine);
            final CompletionBudget budget = client.completionQueue().budget();
            // Messages stay in the send queue for as long as the other side has no receives for them.
            while (client.send(mine, 0, 8, FLAG, 1)) {
                assertTrue(budget.inFlight() <= budget.depth());
            }
            posts().forEach((name, post) -> {
                final long refused = budget.refused();
                assertFalse(post.on(client, mine, remote, 0), name);
                assertEquals(refused + 1, budget.refused(), name);
                assertEquals(budget.depth(), budget.inFlight(), name);
                HotCalls.awaitQuiescence();
                assertEquals(1, callsEndedBy(() -> assertFalse(post.on(client, mine, remote, 0))), name);
            });
        }
    }

    @Test
    void shouldRefuseEveryPostThatTheDeviceHasNoRoomFor() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(LARGE).sqSize(SMALL).rqSize(SMALL))) {
            final Connection client = pair.client();
            final LocalMemoryRegion mine = pair.memory(LENGTH);
            final RemoteMemoryRegion remote = pair.remote(mine);
            final CompletionBudget budget = client.completionQueue().budget();
            int posted = 0;
            while (client.send(mine, 0, 8, FLAG, 1)) {
                posted++;
            }
            while (client.receive(mine, 0, 8, 1)) {
                posted++;
            }
            for (final Map.Entry<String, Post> post : posts().entrySet()) {
                assertFalse(post.getValue().on(client, mine, remote, 0), post.getKey());
                assertEquals(posted, budget.inFlight(), post.getKey());
                assertEquals("", LogSink.takeErrorText(), "the next exception would show this text");
                HotCalls.awaitQuiescence();
                assertEquals(1, callsEndedBy(() -> assertFalse(post.getValue().on(client, mine, remote, 0))), post.getKey());
            }
            assertEquals(0, budget.refused());
        }
    }

    @Test
    void shouldEndTheCallOfEveryPostThatThrows() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final Connection client = pair.client();
            final LocalMemoryRegion mine = pair.memory(LENGTH);
            final RemoteMemoryRegion remote = pair.remote(mine);
            posts().forEach((name, post) -> {
                assertThrows(IndexOutOfBoundsException.class, () -> post.on(client, mine, remote, LENGTH), name);
                assertEquals(0, client.completionQueue().budget().inFlight(), name);
                HotCalls.awaitQuiescence();
                assertEquals(1, callsEndedBy(() -> assertThrows(IndexOutOfBoundsException.class,
                    () -> post.on(client, mine, remote, LENGTH))), name);
            });
        }
    }

    @Test
    void shouldPostSeveralReceivesUntilTheBudgetHasNoRoom() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(SMALL).sqSize(LARGE).rqSize(LARGE))) {
            final Connection client = pair.client();
            final LocalMemoryRegion mine = pair.memory(LARGE * 8L);
            final CompletionBudget budget = client.completionQueue().budget();
            final int room = budget.depth();
            assertEquals(room, client.receive(mine, 0, 8, 1, LARGE));
            assertEquals(room, budget.inFlight());
            assertEquals(1, budget.refused());
            assertEquals(0, client.receive(mine, 0, 8, 1, 1));
            assertEquals(2, budget.refused());
        }
    }

    @Test
    void shouldPostSeveralReceivesUntilTheDeviceHasNoRoom() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(LARGE).sqSize(SMALL).rqSize(SMALL))) {
            final Connection client = pair.client();
            final LocalMemoryRegion mine = pair.memory(LARGE * 8L);
            final int posted = client.receive(mine, 0, 8, 1, LARGE);
            assertTrue(posted >= SMALL && posted < LARGE, () -> posted + " receives");
            assertEquals(posted, client.completionQueue().budget().inFlight());
            assertEquals(0, client.receive(mine, 0, 8, 1, LARGE));
            assertEquals("", LogSink.takeErrorText(), "the next exception would show this text");
        }
    }

    @Test
    void shouldCheckTheNumberOfReceivesAndThePlaceOfAll() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final Connection client = pair.client();
            final LocalMemoryRegion mine = pair.memory(LENGTH);
            assertThrows(IllegalArgumentException.class, () -> client.receive(mine, 0, 8, 1, -1));
            assertThrows(IndexOutOfBoundsException.class, () -> client.receive(mine, 0, 8, 1, LENGTH / 8 + 1));
            assertThrows(IndexOutOfBoundsException.class, () -> client.receive(mine, 0, -8, 1, 1));
            assertEquals(0, client.receive(mine, 0, 8, 1, 0));
            assertEquals(0, client.completionQueue().budget().inFlight());
        }
    }

    @Test
    void shouldLimitTheLengthOfEveryMessage() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final Connection client = pair.client();
            longPosts().forEach((name, post) -> {
                final IllegalArgumentException tooLong = assertThrows(IllegalArgumentException.class,
                    () -> post.on(client, Posts.MAX_MESSAGE_BYTES + 1), name);
                assertTrue(tooLong.getMessage().startsWith("a message of 2147483649 bytes"), tooLong::getMessage);
                // The longest one is the library's to refuse, since it has no memory.
                assertThrows(RpmaException.class, () -> post.on(client, Posts.MAX_MESSAGE_BYTES), name);
                assertEquals(0, client.completionQueue().budget().inFlight(), name);
                HotCalls.awaitQuiescence();
            });
        }
    }

    @Test
    void shouldRefuseReceivesOfASharedQueueInEachWay() {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            SharedReceiveQueueConfig config = SharedReceiveQueueConfig.create().rqSize(LARGE).rcqSize(SMALL);
            SharedReceiveQueue queue = peer.sharedReceiveQueue(config);
            LocalMemoryRegion mine = peer.allocate(LENGTH, MemoryUsage.RECEIVE)) {
            final CompletionBudget budget = queue.receiveCompletionQueue().orElseThrow().budget();
            assertThrows(IllegalArgumentException.class, () -> queue.receive(mine, 0, Posts.MAX_MESSAGE_BYTES + 1, 1));
            assertThrows(IndexOutOfBoundsException.class, () -> queue.receive(mine, LENGTH, 1, 1));
            HotCalls.awaitQuiescence();
            assertEquals(0, budget.inFlight());
            assertEquals(1, callsEndedBy(() -> assertThrows(IndexOutOfBoundsException.class,
                () -> queue.receive(mine, LENGTH, 1, 1))));
            assertEquals(1, callsEndedBy(() -> assertTrue(queue.receive(mine, 0, 8, 1))));
            while (queue.receive(mine, 0, 8, 1)) {
                assertTrue(budget.inFlight() <= budget.depth());
            }
            HotCalls.awaitQuiescence();
            assertEquals(budget.depth(), budget.inFlight());
            assertEquals(1, budget.refused());
            assertEquals(1, callsEndedBy(() -> assertFalse(queue.receive(mine, 0, 8, 1))));
        }
    }

    private static Map<String, Post> posts() {
        final Map<String, Post> posts = new LinkedHashMap<>();
        posts.put("read", (client, mine, remote, at) -> client.read(mine, at, remote, at, 8, FLAG, 1));
        posts.put("write", (client, mine, remote, at) -> client.write(remote, at, mine, at, 8, FLAG, 1));
        posts.put("writeWithImmediate",
            (client, mine, remote, at) -> client.writeWithImmediate(remote, at, mine, at, 8, FLAG, 1, 1));
        posts.put("atomicWrite", (client, mine, remote, at) -> client.atomicWrite(remote, at, 1, FLAG, 1));
        posts.put("flush", (client, mine, remote, at) -> client.flush(remote, at, 8, FlushType.VISIBILITY, FLAG, 1));
        posts.put("send", (client, mine, remote, at) -> client.send(mine, at, 8, FLAG, 1));
        posts.put("sendWithImmediate", (client, mine, remote, at) -> client.sendWithImmediate(mine, at, 8, FLAG, 1, 1));
        posts.put("receive", (client, mine, remote, at) -> client.receive(mine, at, 8, 1));
        posts.put("receives", (client, mine, remote, at) -> client.receive(mine, at, 8, 1, 2) != 0);
        return posts;
    }

    private static Map<String, LongPost> longPosts() {
        final Map<String, LongPost> posts = new LinkedHashMap<>();
        posts.put("read", (client, bytes) -> client.read(null, 0, null, 0, bytes, FLAG, 1));
        posts.put("write", (client, bytes) -> client.write(null, 0, null, 0, bytes, FLAG, 1));
        posts.put("writeWithImmediate", (client, bytes) -> client.writeWithImmediate(null, 0, null, 0, bytes, FLAG, 1, 1));
        posts.put("send", (client, bytes) -> client.send(null, 0, bytes, FLAG, 1));
        posts.put("sendWithImmediate", (client, bytes) -> client.sendWithImmediate(null, 0, bytes, FLAG, 1, 1));
        posts.put("receive", (client, bytes) -> client.receive(null, 0, bytes, 1));
        posts.put("receives", (client, bytes) -> client.receive(null, 0, bytes, 1, 2) != 0);
        return posts;
    }
}
