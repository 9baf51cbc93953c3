package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.DeviceClock;
import io.ringpoll.completion.SelfConnectedQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.rc.RcUsage;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.poller.NotifyingQueue;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.VerbsPair;
import io.ringpoll.verbs.MemoryRegion;
import io.ringpoll.verbs.ReceiveList;
import io.ringpoll.verbs.SendList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Handlers read the timestamps of completions, beside queues that have none. */
@Timeout(60)
class TimestampTest {
    private static final int MESSAGES = 400;
    private static final int ASLEEP = 50;
    private static final int RING = 64;
    /** Of a comparison of two clocks by a thread that may lose its processor, and drift until the next one. */
    private static final long CLOCK_TOLERANCE_NS = 200_000;
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

    private final AtomicInteger handled = new AtomicInteger();
    private final List<String> wrong = new CopyOnWriteArrayList<>();

    @BeforeEach
    void requireTheCapability() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            assumeTrue(DeviceClock.isOfferedBy(peer.context()), peer.context() + " has no " + DeviceClock.CAPABILITY);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGiveEachHandlerTheTimeOfTheCompletion(final boolean inPlace) {
        try (SelfConnectedQueue timed = new SelfConnectedQueue("timed", true);
             SelfConnectedQueue plain = new SelfConnectedQueue("plain", false)) {
            final DeviceClock sent = DeviceClock.of(timed.context());
            final PipelineBuilder description = Pipeline.builder().ringSize(RING).onAll(checker(timed));
            try (Pipeline pipeline = inPlace ? description.runToCompletion().start() : description.start()) {
                pipeline.addQueue(plain.queue(), "plain");
                pipeline.addQueue(timed.queue(), "timed");
                for (int i = 0; i < MESSAGES; i++) {
                    plain.send(i);
                    // The work request is named after the time of its post.
                    timed.send(sent.ticks());
                    awaitHandled(4 * (i + 1));
                }
            }
        }
        assertEquals(List.of(), wrong);
    }

    @Test
    void shouldGiveTheTimesOfBothSidesOfAConnection() throws TimeoutException {
        try (VerbsPair pair = VerbsPair.withTimestamps()) {
            final DeviceClock sent = DeviceClock.of(pair.clientId().context());
            final DeviceClock clock = DeviceClock.of(pair.clientId().context());
            final MemoryRegion memory = pair.memory(64, VerbsPair.ALL);
            final AtomicLong postedTicks = new AtomicLong();
            try (Pipeline pipeline = Pipeline.builder().ringSize(RING).onAll((completion, sequence, endOfBatch) -> {
                final long timestamp = completion.completionTimestamp();
                final long now = System.nanoTime();
                check(timestamp >= postedTicks.get() && timestamp <= clock.ticks(), "timestamp " + timestamp + ": " + completion);
                check(clock.nanoTime(timestamp) <= now + CLOCK_TOLERANCE_NS, "in the future: " + completion);
                handled.incrementAndGet();
            }).start()) {
                pipeline.addQueue(pair.client().sendQueue());
                pipeline.addQueue(pair.server().receiveQueue());
                final SendList message = pair.one(memory, 0, 8);
                final ReceiveList receive = pair.receives(1, memory, 8);
                message.send(0);
                message.signaled(0, true);
                for (int i = 0; i < MESSAGES; i++) {
                    postedTicks.set(sent.ticks());
                    awaitTrue(() -> pair.server().postReceive(receive) == 1);
                    awaitTrue(() -> pair.client().postSend(message) == 1);
                    awaitHandled(2 * (i + 1));
                }
                pipeline.removeQueue(pair.client().sendQueue());
                pipeline.removeQueue(pair.server().receiveQueue());
            }
        }
        assertEquals(List.of(), wrong);
    }

    /** Each write is posted while the poller sleeps until an event of the channel. */
    @Test
    void shouldGiveTheTimesToAPollerThatSleepsOnTheChannel() throws TimeoutException {
        final RcConfig config = RcConfig.of(8, 8, 16).withTimestamps(true);
        try (RcPeer peer = RdmaApi.VERBS.ofLocal(TestDevice.address()); RcMemory memory = peer.allocate(64, RcUsage.values());
             RcRemoteMemory remote = peer.remote(memory.descriptor());
             RcListener listener = peer.listen(TestDevice.address(), 0);
             RcConnection client = peer.request(TestDevice.address(), listener.port(), config).connect();
             RcConnection server = listener.nextRequest(config, VerbsPair.TIMEOUT_MS).orElseThrow().connect()) {
            client.awaitEstablished(VerbsPair.TIMEOUT_MS);
            server.awaitEstablished(VerbsPair.TIMEOUT_MS);
            final DeviceClock sent = DeviceClock.of(peer.context());
            final DeviceClock clock = DeviceClock.of(peer.context());
            final NotifyingQueue queue = NotifyingQueue.of(
                (VerbsCompletionQueue) client.completionQueue(), client.completionChannel().orElseThrow());
            try (Pipeline pipeline = Pipeline.builder().ringSize(RING).idleStrategy(new EventDrivenIdle(0, BOUND_NS))
                .onAll((completion, sequence, endOfBatch) -> {
                    final long timestamp = completion.completionTimestamp();
                    check(timestamp >= completion.workRequestId() && timestamp <= clock.ticks(),
                        "timestamp " + timestamp + " of " + completion);
                    handled.incrementAndGet();
                }).start()) {
                pipeline.addQueue(queue);
                for (int i = 0; i < ASLEEP; i++) {
                    final long sleeps = pipeline.pollerCounters().sleeps();
                    assertTrue(client.write(remote, 0, memory, 32, 8, true, sent.ticks()));
                    awaitHandled(i + 1);
                    awaitTrue(() -> pipeline.pollerCounters().sleeps() > sleeps);
                }
                assertTrue(pipeline.pollerCounters().events() > 0);
                pipeline.removeQueue(queue);
            }
            assertEquals(List.of(), wrong);
        }
    }

    /** Checks a completion by the time of its post and that of the last one of its queue. */
    private CompletionHandler checker(final SelfConnectedQueue timed) {
        final DeviceClock clock = DeviceClock.of(timed.context());
        final long[] last = {Long.MIN_VALUE};
        return (completion, sequence, endOfBatch) -> {
            if ("plain".equals(completion.attachment())) {
                checkMissing(completion);
            } else {
                final long timestamp = completion.completionTimestamp();
                check(timestamp >= completion.workRequestId() && timestamp >= last[0] && timestamp <= clock.ticks(),
                    "timestamp " + timestamp + " of " + completion);
                last[0] = timestamp;
            }
            handled.incrementAndGet();
        };
    }

    private void checkMissing(final WorkCompletion completion) {
        try {
            check(false, "timestamp " + completion.completionTimestamp() + " of a queue without");
        } catch (final IllegalStateException missing) {
            check(missing.getMessage().contains("createWithTimestamps"), missing.getMessage());
        }
    }

    @Test
    void shouldGiveTheTimesOfABatch() {
        try (SelfConnectedQueue timed = new SelfConnectedQueue("timed", true)) {
            final List<Long> times = new CopyOnWriteArrayList<>();
            try (Pipeline pipeline = Pipeline.builder().ringSize(RING).queue(timed.queue())
                .onReceiveBatch(batch -> {
                    for (int i = 0; i < batch.size(); i++) {
                        times.add(batch.completion(i).completionTimestamp());
                    }
                    handled.addAndGet(batch.size());
                })
                .onSendWrite((completion, sequence, endOfBatch) -> handled.incrementAndGet())
                .discard(CompletionPath.ERROR)
                .start()) {
                for (int i = 0; i < MESSAGES; i++) {
                    timed.send(i);
                    awaitHandled(2 * (i + 1));
                }
            }
            assertEquals(MESSAGES, times.size());
            assertEquals(times.stream().sorted().toList(), times);
        }
    }

    @Test
    void shouldGiveTheTimesOfUndeliveredCompletions() {
        try (SelfConnectedQueue timed = new SelfConnectedQueue("timed", true)) {
            final DeviceClock clock = DeviceClock.of(timed.context());
            final Pipeline pipeline = Pipeline.builder().queue(timed.queue())
                .onAll((completion, sequence, endOfBatch) -> {
                    throw new IllegalStateException("provoked");
                }, options -> options.failurePolicy(FailurePolicy.HALT))
                .onUndelivered(completion -> {
                    check(completion.completionTimestamp() >= completion.workRequestId(), completion.toString());
                    handled.incrementAndGet();
                }).start();
            timed.send(clock.ticks());
            awaitTrue(() -> pipeline.failure() != null);
            timed.send(clock.ticks());
            timed.send(clock.ticks());
            pipeline.close(BOUND_NS);
        }
        assertTrue(handled.get() >= 4, () -> handled + " undelivered completions");
        assertEquals(List.of(), wrong);
    }

    private void check(final boolean condition, final String message) {
        if (!condition) {
            wrong.add(message);
        }
    }

    private void awaitHandled(final int count) {
        awaitTrue(() -> handled.get() >= count);
    }

    private void awaitTrue(final BooleanSupplier condition) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            Thread.yield();
            assertTrue(System.nanoTime() - startNs < BOUND_NS, () -> handled.get() + " handled, wrong: " + wrong);
        }
    }
}
