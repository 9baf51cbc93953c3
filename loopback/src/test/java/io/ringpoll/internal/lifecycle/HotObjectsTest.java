package io.ringpoll.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.CountedQueues;
import io.ringpoll.os.Errno;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.FlushType;
import io.ringpoll.rpma.LegacyCompletion;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.rpma.RpmaError;
import io.ringpoll.rpma.RpmaException;
import io.ringpoll.rpma.SharedReceiveQueue;
import io.ringpoll.rpma.SharedReceiveQueueConfig;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Polls and posts are hot calls, each counted once, and their memory is freed only when none is under way. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HotObjectsTest {
    private static final int LENGTH = 64;

    private final ConnectedPair pair = ConnectedPair.of(config -> config.sqSize(64).rqSize(16).cqSize(256));
    private final Connection connection = pair.client();
    private final RpmaCompletionQueue queue = connection.completionQueue();
    private final LocalMemoryRegion memory = pair.memory(LENGTH);
    private final RemoteMemoryRegion remote = pair.remote(memory);
    private SharedReceiveQueue shared;
    private VerbsCompletionQueue created;

    @BeforeEach
    void create() {
        try (SharedReceiveQueueConfig config = SharedReceiveQueueConfig.create().rqSize(16).rcqSize(16)) {
            shared = pair.peer().sharedReceiveQueue(config);
        }
        created = VerbsCompletionQueue.create(pair.peer().context(), "mine", 16, null);
    }

    @AfterEach
    void close() {
        created.close();
        shared.close();
        pair.close();
    }

    @Test
    void shouldCountEachPollAndEachPostOnce() {
        final WorkCompletions records = new Completions().records();
        final LegacyCompletion legacy = new LegacyCompletion();
        final CompletionFlag flag = CompletionFlag.ALWAYS;
        final Map<String, Runnable> calls = new LinkedHashMap<>();
        calls.put("poll", () -> queue.poll(records, 0, 1));
        final CountedQueue uncounted = CountedQueues.of(queue);
        calls.put("uncounted poll", () -> uncounted.pollUncounted(records.address(0, 1), 1));
        calls.put("poll of a verbs queue", () -> created.poll(records, 0, 1));
        final CountedQueue uncountedVerbs = CountedQueues.of(created);
        calls.put("uncounted poll of a verbs queue", () -> uncountedVerbs.pollUncounted(records.address(0, 1), 1));
        calls.put("old poll", () -> queue.getCompletion(legacy));
        calls.put("write", () -> connection.write(remote, 0, memory, 0, LENGTH, flag, 1));
        calls.put("write with immediate", () -> connection.writeWithImmediate(remote, 0, memory, 0, LENGTH, flag, 1, 1));
        calls.put("atomic write", () -> connection.atomicWrite(remote, 0, 1, flag, 1));
        calls.put("read", () -> connection.read(memory, 0, remote, 0, LENGTH, flag, 1));
        calls.put("flush", () -> connection.flush(remote, 0, LENGTH, FlushType.VISIBILITY, flag, 1));
        calls.put("send", () -> connection.send(memory, 0, LENGTH, flag, 1));
        calls.put("send with immediate", () -> connection.sendWithImmediate(memory, 0, LENGTH, flag, 1, 1));
        calls.put("receive", () -> connection.receive(memory, 0, LENGTH, 1));
        calls.put("shared receive", () -> shared.receive(memory, 0, LENGTH, 1));
        calls.forEach((name, call) -> {
            final HotMark mark = HotMark.ofCurrentThread();
            // The first call takes ownership, which counts too.
            tolerateRefusal(call);
            final int before = mark.word();
            tolerateRefusal(call);
            assertEquals(before + 1, mark.word(), name);
        });
    }

    @Test
    void shouldPollAgainAfterAnotherThreadHasPolledOrClosed() throws InterruptedException {
        final WorkCompletions records = new Completions().records();
        for (final CompletionQueue polled : List.of(queue, created)) {
            final CountedQueue uncounted = CountedQueues.of(polled);
            for (int i = 0; i < 3; i++) {
                assertEquals(0, uncounted.pollUncounted(records.address(0, 1), 1));
            }
            assertEquals(0, OtherThread.run(() -> polled.poll(new Completions().records(), 0, 1)).result());
            assertEquals(0, uncounted.pollUncounted(records.address(0, 1), 1));
        }
        final CountedQueue uncounted = CountedQueues.of(queue);
        final CountedQueue closed = CountedQueues.of(created);
        assertEquals(0, closed.pollUncounted(records.address(0, 1), 1));
        assertEquals(0, closed.pollUncounted(records.address(0, 1), 1));
        created.close();
        assertEquals(-Errno.EINVAL, closed.pollUncounted(records.address(0, 1), 1));
        assertEquals(0, uncounted.pollUncounted(records.address(0, 1), 1));
        connection.close();
        assertEquals(RpmaError.INVAL, uncounted.pollUncounted(records.address(0, 1), 1));
    }

    @Test
    void shouldFreeNothingWhileACallIsUnderWay() throws InterruptedException {
        final Map<String, NativeResource> resources = new LinkedHashMap<>();
        resources.put("remote region", remote);
        resources.put("local region", memory);
        resources.put("verbs queue", created);
        resources.put("shared receive queue", shared);
        resources.put("connection", connection);
        for (final Map.Entry<String, NativeResource> resource : resources.entrySet()) {
            assertWaits(resource.getKey(), resource.getValue());
        }
    }

    private static void assertWaits(final String name, final NativeResource resource) throws InterruptedException {
        final HotCalls calls = HotCalls.register(HotCaller.class);
        final CountDownLatch inside = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        final AtomicBoolean ended = new AtomicBoolean();
        final OtherThread<Object> caller = OtherThread.run(() -> HotCaller.call(calls, mark -> {
            inside.countDown();
            assertTrue(goOn.await(30, TimeUnit.SECONDS));
            ended.set(true);
            return null;
        }));
        assertTrue(inside.await(30, TimeUnit.SECONDS));
        final OtherThread<Boolean> closer = OtherThread.run(() -> {
            resource.close();
            return ended.get();
        });
        // Not a proof, but a close that does not wait has ended by then.
        Thread.sleep(100);
        goOn.countDown();
        caller.result();
        assertEquals(true, closer.result(), name);
        calls.discard();
    }

    private static void tolerateRefusal(final Runnable call) {
        try {
            call.run();
        } catch (final RpmaException refused) {
            // Some devices do not support all operations; the call was made.
            assertTrue(refused.getMessage().startsWith("rpma_"), refused::getMessage);
        }
    }
}
