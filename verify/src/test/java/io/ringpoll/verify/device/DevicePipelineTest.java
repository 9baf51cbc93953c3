package io.ringpoll.verify.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Polls the queues of a device on the poller thread, in both ways, with handlers of the three paths. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class DevicePipelineTest {
    private static final int WINDOW = 8;
    private static final int WINDOWS = 10;
    private static final int FLUSHED = 5;
    private static final CompletionFlag FLAG = CompletionFlag.ALWAYS;

    private final Recorder sendWrite = new Recorder();
    private final Recorder receive = new Recorder();
    private final Recorder error = new Recorder();

    /** The poll functions. */
    enum Call {
        /** rpma_cq_get_wc of librpma, as a critical call. */
        CRITICAL {
            @Override
            CompletionQueue open(final ConnectedPair pair, final RpmaCompletionQueue queue) {
                return queue;
            }
        },
        /** The poll function of the provider, without librpma. */
        DIRECT {
            @Override
            CompletionQueue open(final ConnectedPair pair, final RpmaCompletionQueue queue) {
                return pair.closed(queue.openVerbs());
            }
        };

        abstract CompletionQueue open(ConnectedPair pair, RpmaCompletionQueue queue);
    }

    @ParameterizedTest
    @EnumSource
    void shouldDeliverEachCompletionOfADeviceOnceToItsPath(final Call call) throws Exception {
        try (ConnectedPair pair = ConnectedPair.of(
                config -> config.cqSize(4 * WINDOW).sqSize(2 * WINDOW).rqSize(WINDOW).rcqSize(2 * WINDOW));
            Pipeline pipeline = Pipeline.builder()
                .ringSize(64).withoutCountersFile().onSendWrite(sendWrite).onReceive(receive).onError(error).start()) {
            final List<CompletionQueue> queues = List.of(
                call.open(pair, pair.client().completionQueue()),
                call.open(pair, pair.server().completionQueue()),
                call.open(pair, pair.server().receiveCompletionQueue().orElseThrow()));
            for (final CompletionQueue queue : queues) {
                pipeline.addQueue(queue);
            }

            final int messages = exchange(pair);
            assertEquals(ids(2 * messages), sendWrite.ids);
            assertEquals(ids(messages), receive.ids);
            assertEquals(List.of(), error.ids);

            flush(pair);
            assertEquals(ids(FLUSHED), error.ids);
            for (final CompletionQueue queue : queues) {
                pipeline.removeQueue(queue);
            }
        }
        assertEquals(2 * WINDOW * WINDOWS, sendWrite.ids.size());
        assertEquals(WINDOW * WINDOWS, receive.ids.size());
    }

    /** Writes and sends, in windows that fit the queues, each handled before the next; returns the number of messages. */
    private int exchange(final ConnectedPair pair) {
        final LocalMemoryRegion memory = pair.memory(128);
        final RemoteMemoryRegion remote = pair.remote(memory);
        final Connection client = pair.client();
        int messages = 0;
        for (int window = 0; window < WINDOWS; window++) {
            for (int i = 0; i < WINDOW; i++, messages++) {
                assertTrue(pair.server().receive(memory, 64, 8, messages));
                assertTrue(client.write(remote, 32, memory, 0, 8, FLAG, 2L * messages));
                assertTrue(client.send(memory, 0, 8, FLAG, 2L * messages + 1));
            }
            sendWrite.awaitSize(2 * messages);
            receive.awaitSize(messages);
        }
        return messages;
    }

    /** Leaves receives outstanding and disconnects. */
    private void flush(final ConnectedPair pair) {
        final LocalMemoryRegion memory = pair.memory(8);
        for (int i = 0; i < FLUSHED; i++) {
            assertTrue(pair.server().receive(memory, 0, 8, i));
        }
        pair.client().disconnect();
        assertEquals(ConnectionEvent.CLOSED, pair.server().nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
        pair.server().disconnect();
        error.awaitSize(FLUSHED);
    }

    private static List<Long> ids(final int count) {
        return LongStream.range(0, count).boxed().toList();
    }

    /** The work requests of a path, in order of their completions. */
    private static final class Recorder implements CompletionHandler {
        private final List<Long> ids = new ArrayList<>();
        private volatile int size;

        @Override
        public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
            ids.add(wc.workRequestId());
            size = ids.size();
        }

        /** Waits until this many have completed; bounded by the time limit of the test. */
        void awaitSize(final int count) {
            while (size < count) {
                if (Thread.currentThread().isInterrupted()) {
                    throw new IllegalStateException("heard of " + size + " of " + count);
                }
                Thread.yield();
            }
        }
    }
}
