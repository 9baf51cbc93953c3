package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.internal.poller.CompletionPoller;
import java.lang.StackWalker.Option;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The levels of calls from the poll of a single queue to a listener. C2 inlines 15, and the post of an answer needs some: with a
 * few levels more above the listener, it executed a hundred instructions more.
 */
@Timeout(60)
class CallDepthTest {
    private static final int LEVELS = 9;

    /** Records the calls from the poller to a message. */
    private static final class Walker implements ConnectionListener {
        private final CompletableFuture<List<String>> calls = new CompletableFuture<>();

        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            // The delivering loop is a hidden class.
            return calls.complete(StackWalker.getInstance(Option.SHOW_HIDDEN_FRAMES).walk(frames -> frames
                .takeWhile(frame -> !frame.getClassName().equals(CompletionPoller.class.getName()))
                .map(frame -> frame.getClassName() + "." + frame.getMethodName()).toList()));
        }
    }

    @Test
    void shouldReachTheListenerByFewLevelsOfCalls() throws Exception {
        final Walker server = new Walker();
        try (SetPair pair = SetPair.of(builder -> { }, server, new Recorder())) {
            final MessageConnection connection = pair.connect();
            connection.execute(() -> connection.trySend(new UnsafeBuffer(new byte[1]), 0, 1));
            final List<String> levels = server.calls.get(40, TimeUnit.SECONDS);
            assertEquals(LEVELS, levels.size(), levels::toString);
        }
    }
}
