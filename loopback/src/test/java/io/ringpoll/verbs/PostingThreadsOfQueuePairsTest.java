package io.ringpoll.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.device.Device;
import io.ringpoll.internal.verbs.MessagePosts;
import io.ringpoll.internal.verbs.MessageReceives;
import io.ringpoll.internal.verbs.MessageSends;
import io.ringpoll.internal.verbs.PostingThreads;
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.VerbsPair;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** With the check of posts, two threads that post to one queue of a queue pair in turn are named, whatever kind of post it is. */
@Timeout(100)
class PostingThreadsOfQueuePairsTest {
    private static final String SENDS = "two threads post to the send queue of it in turn: first and second; " +
        "one of them should post, for instance the polling thread in a task of Pipeline.execute";
    private static final String RECEIVES = SENDS.replace("send queue", "receive queue");

    @Test
    void shouldNameTwoThreadsThatPostInTurn() {
        assertEquals(List.of("list: " + SENDS, "one: " + SENDS, "leased: " + SENDS, "receives: " + RECEIVES,
                "receive: " + RECEIVES, "leased receives: " + RECEIVES),
            JavaProcess.create().property(Device.DEVICE_PROPERTY, "loopback").property(PostingThreads.PROPERTY, "true")
                .timeoutSeconds(90).run(Posting.class).strip().lines().toList());
    }

    @Test
    void shouldCheckNothingByDefault() {
        assertEquals("", JavaProcess.create().property(Device.DEVICE_PROPERTY, "loopback").timeoutSeconds(90).run(Posting.class)
            .strip());
    }

    /** Hands both queues over to a second thread, then posts by each kind of post on the first one, and prints the exceptions. */
    static final class Posting {
        private static final PrintStream OUT = System.out;
        private static final int LENGTH = 64;

        private Posting() {
        }

        public static void main(final String... arguments) throws InterruptedException {
            Thread.currentThread().setName("first");
            try (VerbsPair pair = VerbsPair.of(attributes -> attributes.completionBudget(false))) {
                final QueuePair queuePair = pair.client();
                final MemoryRegion memory = pair.memory(LENGTH, VerbsPair.ALL);
                final SendList list = pair.one(memory, 0, LENGTH);
                list.send(0);
                final ReceiveList receives = pair.receives(1, memory, LENGTH);
                final MessageSends leased = MessagePosts.sends(queuePair, memory);
                final MessageReceives leasedReceives = MessagePosts.receives(queuePair, memory);
                final Map<String, Runnable> posts = new LinkedHashMap<>();
                posts.put("list", () -> queuePair.postSend(list));
                posts.put("one", () -> queuePair.send(memory, 0, LENGTH, true, 1));
                posts.put("leased", () -> leased.post(0, LENGTH, true, 0, 1));
                posts.put("receives", () -> queuePair.postReceive(receives));
                posts.put("receive", () -> queuePair.receive(memory, 0, LENGTH, 1));
                posts.put("leased receives", () -> leasedReceives.post(0, LENGTH, 1, 1));
                posts.values().forEach(Runnable::run);
                final Thread second = new Thread(() -> posts.values().forEach(Runnable::run), "second");
                second.start();
                second.join();
                posts.forEach((kind, post) -> {
                    try {
                        post.run();
                    } catch (final IllegalStateException refused) {
                        OUT.println(kind + ": " + refused.getMessage().replace(queuePair.name(), "it"));
                    }
                });
            }
        }
    }
}
