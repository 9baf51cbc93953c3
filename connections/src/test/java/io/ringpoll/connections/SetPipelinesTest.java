package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.testing.TestDevice;
import java.util.function.UnaryOperator;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The pipelines of a set belong to it: handlers and queues of the user are refused. */
@Timeout(60)
@Tag(TestDevice.TAG)
class SetPipelinesTest {
    private final Recorder server = new Recorder();
    private final Recorder client = new Recorder();

    /** A queue of the user with a completion. */
    private static final class UserQueue implements CompletionQueue {
        private volatile int polls;

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            return ++polls == 1 ? 1 : 0;
        }

        @Override
        public String name() {
            return "a user's queue";
        }
    }

    @Test
    void shouldRefuseAQueueOfTheUser() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            final Pipeline pipeline = pair.client().pipelines().getFirst();
            final UserQueue queue = new UserQueue();
            final String refusal = assertThrows(IllegalStateException.class, () -> pipeline.addQueue(queue)).getMessage();
            assertTrue(refusal.startsWith("a user's queue cannot be added: pipeline set-"), refusal);
            assertTrue(refusal.contains(" is that of connection set " + pair.client().name() + " and polls"), refusal);
            // As if it were the connection's.
            assertThrows(IllegalStateException.class, () -> pipeline.addQueue(queue, connection));
            assertThrows(IllegalStateException.class, () -> pipeline.addQueue(queue, "attached"));
            assertThrows(IllegalStateException.class, () -> pair.server().pipelines().getFirst()
                .addQueue(connection.queue(), connection), "of the other set");
            final UnsafeBuffer message = new UnsafeBuffer("sent".getBytes());
            connection.execute(() -> connection.trySend(message, 0, message.capacity()));
            assertEquals("message sent", server.await("message"));
            assertEquals(0, queue.polls);
            assertEquals(0, pipeline.handlerExceptions());
        }
    }

    private static IllegalArgumentException refusalOf(final UnaryOperator<PipelineBuilder> description) {
        return assertThrows(IllegalArgumentException.class, SetPair.builder().name("described").listener(new Recorder())
            .pipelines(i -> description.apply(Pipeline.builder().name("mine").withoutCountersFile()))::start);
    }

    @Test
    void shouldRefuseADescriptionWithHandlersOrQueues() {
        final String refusal = "pipeline mine is that of connection set described, which adds the handler and the queues: " +
            "describe it without any, and each by a builder of its own";
        assertEquals(refusal,
            refusalOf(builder -> builder.onAll((completion, sequence, endOfBatch) -> { })).getMessage());
        assertEquals(refusal,
            refusalOf(builder -> builder.onError((completion, sequence, endOfBatch) -> { })).getMessage());
        assertEquals(refusal, refusalOf(builder -> builder.queue(new UserQueue())).getMessage());
    }
}
