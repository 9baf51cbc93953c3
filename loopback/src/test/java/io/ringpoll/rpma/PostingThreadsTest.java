package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.device.Device;
import io.ringpoll.internal.verbs.PostingThreads;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.JavaProcess;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** With the check of posts, two threads that post to one queue in turn are named; a hand-over is permitted. */
@Timeout(100)
class PostingThreadsTest {
    @Test
    void shouldNameTwoThreadsThatPostInTurn() {
        assertEquals("IllegalStateException: two threads post to the send queue of it in turn: first and second; " +
            "one of them should post, for instance the polling thread in a task of Pipeline.execute",
            JavaProcess.create().property(Device.DEVICE_PROPERTY, "loopback").property(PostingThreads.PROPERTY, "true")
                .timeoutSeconds(90).run(Posting.class).strip());
    }

    @Test
    void shouldNameAThreadThatPostsAgainAfterTwoOthers() {
        assertEquals("IllegalStateException: two threads post to the send queue of it in turn: first and third; " +
            "one of them should post, for instance the polling thread in a task of Pipeline.execute",
            JavaProcess.create().property(Device.DEVICE_PROPERTY, "loopback").property(PostingThreads.PROPERTY, "true")
                .timeoutSeconds(90).run(Posting.class, "third").strip());
    }

    @Test
    void shouldCheckNothingByDefault() {
        assertEquals("", JavaProcess.create().property(Device.DEVICE_PROPERTY, "loopback").timeoutSeconds(90).run(Posting.class)
            .strip());
    }

    /** Posts on two threads in turn, or on a further one between, and prints the exception. */
    static final class Posting {
        private static final PrintStream OUT = System.out;

        private Posting() {
        }

        public static void main(final String... arguments) throws InterruptedException {
            try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
                final Connection connection = pair.client();
                Thread.currentThread().setName("first");
                post(connection);
                connection.receive(null, 0, 0, 1);
                final Thread second = new Thread(() -> {
                    post(connection);
                    post(connection);
                }, "second");
                second.start();
                second.join();
                for (final String name : arguments) {
                    final Thread further = new Thread(() -> post(connection), name);
                    further.start();
                    further.join();
                }
                // The receive queue has threads of its own.
                connection.receive(null, 0, 0, 2);
                try {
                    post(connection);
                } catch (final IllegalStateException refused) {
                    OUT.println("IllegalStateException: " + refused.getMessage().replace(connection.name(), "it"));
                }
            }
        }

        private static void post(final Connection connection) {
            connection.write(null, 0, null, 0, 0, CompletionFlag.ON_ERROR, 1);
        }
    }
}
