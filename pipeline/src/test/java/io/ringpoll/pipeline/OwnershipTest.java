package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.counters.CountersFolder;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.poller.NotifyingQueue;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.poller.SyntheticQueue;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.TestDevice;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.ConcurrentCountersManager;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The owners of the ring's memory, the counters file and the completion channels, and their release. */
@Timeout(60)
class OwnershipTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

    @TempDir
    private Path folder;
    private final Recorder all = new Recorder();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRetainTheSlabDuringAPoll(final boolean runsToCompletion) throws InterruptedException {
        final SlowQueue queue = new SlowQueue(1);
        final Pipeline pipeline = start(runsToCompletion, queue);
        queue.awaitPoll();
        final PipelineReport report = pipeline.stop(TimeUnit.MILLISECONDS.toNanos(20));
        assertFalse(report.inTime());
        assertEquals(PipelineReport.UNKNOWN, report.inQueues());
        for (final Thread handler : pipeline.handlerThreads()) {
            handler.join(200);
        }
        assertFalse(pipeline.slab().isFreed(), "a poll still writes to it");
        queue.goOn();
        awaitFreed(pipeline);
        pipeline.pollerThread().join();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFreeTheSlabAfterTheLastThreadWhenStoppedWithTimeOutZero(final boolean runsToCompletion)
        throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            final PipelineBuilder description = Pipeline.builder().ringSize(1 << 16).withoutCountersFile().onAll(all)
                .queue(new SyntheticQueue("queue", Long.MAX_VALUE));
            final Pipeline pipeline = runsToCompletion ? description.runToCompletion().start() : description.start();
            while (pipeline.occupancy() == 0 && !runsToCompletion) {
                Thread.onSpinWait();
            }
            pipeline.stop(0);
            awaitFreed(pipeline);
            all.ids.clear();
        }
    }

    @Test
    void shouldRejectRetainAndReleaseAfterTheMemoryIsFreed() {
        final CompletionSlab slab = new CompletionSlab(4);
        slab.retain();
        slab.release();
        assertFalse(slab.isFreed());
        slab.release();
        assertTrue(slab.isFreed());
        assertThrows(IllegalStateException.class, slab::retain);
        assertTrue(slab.isFreed());
    }

    @Test
    void shouldNotHoldSlotsForAHaltedHandler() throws InterruptedException {
        final ScriptedQueue queue = new ScriptedQueue("queue");
        final AtomicReference<SlotControl> control = new AtomicReference<>();
        final CountDownLatch published = new CountDownLatch(1);
        final CompletionHandler dying = new Recorder() {
            @Override
            public void onStart(final SlotControl slots) {
                control.set(slots);
            }

            @Override
            public void onCompletion(
                final WorkCompletion wc, final long sequence, final boolean endOfBatch) throws Exception {
                published.await();
                throw new IllegalStateException("provoked");
            }
        };
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND).add(2, WcStatus.SUCCESS, WcOpcode.SEND);
        final Pipeline pipeline = Pipeline.builder()
            .onAll(dying, options -> options.failurePolicy(FailurePolicy.HALT).maxHeld(2)).queue(queue).start();
        published.countDown();
        pipeline.handlerThreads().getFirst().join();
        assertThrows(IllegalStateException.class, () -> control.get().hold(1));
        assertThrows(IllegalStateException.class, () -> control.get().releaseThrough(1));
        pipeline.stop(BOUND_NS);
        assertTrue(pipeline.slab().isFreed());
    }

    @ParameterizedTest
    @ValueSource(strings = {"p-all", "p-all-2", "p-poller"})
    void shouldLeaveNothingWhenAThreadCannotBeCreated(final String without) {
        final AtomicInteger ended = new AtomicInteger();
        final List<Thread> threads = new ArrayList<>();
        final PipelineBuilder description = Pipeline.builder().name("p").countersFolder(folder)
            .onAll(counting(ended)).onAll(counting(ended)).queue(new ScriptedQueue("queue"));
        description.threadFactory = (work, name) -> {
            final Thread thread = name.equals(without) ? new UncreatableThread(work, name) : new Thread(work, name);
            threads.add(thread);
            return thread;
        };
        assertEquals("thread " + without + " did not start: unable to create native thread",
            assertThrows(PipelineStartException.class, description::start).getMessage());
        assertNothingIsLeft(threads);
        assertEquals(without.equals("p-poller") ? 2 : without.equals("p-all") ? 0 : 1, ended.get(),
            "each started handler is shut down");
    }

    @Test
    void shouldLeaveNothingWhenTheCountersFileCannotBeWritten() {
        final PipelineBuilder description = Pipeline.builder().name("many").countersFolder(folder).queue(new ScriptedQueue("q"));
        for (int i = 0; i < 200; i++) {
            description.onAll(all);
        }
        assertThrows(IllegalStateException.class, description::start);
        assertEquals(List.of(), CountersFolder.files(folder));
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldCloseTheChannelsOfEarlierQueuesWhenOneCannotBeAdded() {
        final List<Thread> threads = new ArrayList<>();
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final PipelineBuilder description = Pipeline.builder().name("p").countersFolder(folder)
                .idleStrategy(new EventDrivenIdle()).onAll(all)
                .queue(pair.client().completionQueue()).queue(new UnusableQueue());
            description.threadFactory = (work, name) -> {
                final Thread thread = new Thread(work, name);
                threads.add(thread);
                return thread;
            };
            assertEquals("no channel", assertThrows(IllegalStateException.class, description::start).getMessage());
            assertNothingIsLeft(threads);
            // The connection cannot be closed while a view of its queue is open.
            pair.client().close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"p-all", "p-poller"})
    @Tag(TestDevice.TAG)
    void shouldLeaveNothingWhenAThreadOfAFactoryEndsBeforeItsTask(final String ending) {
        final List<Thread> threads = new ArrayList<>();
        final CountersManager counters = new ConcurrentCountersManager(
            new UnsafeBuffer(ByteBuffer.allocateDirect(1024 * CountersReader.METADATA_LENGTH)),
            new UnsafeBuffer(ByteBuffer.allocateDirect(1024 * CountersReader.COUNTER_LENGTH)));
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final CompletionQueue queue = pair.client().completionQueue();
            final PipelineBuilder description = Pipeline.builder().name("p").countersManager(counters)
                .idleStrategy(new EventDrivenIdle()).onAll(all).queue(queue)
                .startTimeoutNs(TimeUnit.MILLISECONDS.toNanos(500)).threadFactory(task -> {
                    final Thread thread = new Thread(() -> {
                        if (!Thread.currentThread().getName().equals(ending)) {
                            task.run();
                        }
                    });
                    threads.add(thread);
                    return thread;
                });
            assertEquals("threads " + ending + " did not start within 500 ms",
                assertThrows(PipelineStartException.class, description::start).getMessage());
            assertNothingIsLeft(threads);
            // The last user of the slab frees the counters.
            counters.forEach((id, label) -> fail("the slab is not freed: " + label));
            final Pipeline next = Pipeline.builder().name("next").withoutCountersFile().onAll(all).queue(queue).start();
            assertTrue(next.close(BOUND_NS).inTime());
            // The connection cannot be closed while a view of its queue is open.
            pair.client().close();
        }
    }

    @Test
    void shouldLeaveNothingWhenThereIsNoHeapForTheRing() {
        assertEquals("no memory of the ring is left", JavaProcess.create().option("-Xmx64m").run(LargeRings.class).strip());
    }

    /** Starts pipelines with rings of 224 MiB, whose lists do not fit into the heap. */
    static final class LargeRings {
        private static final PrintStream OUT = new PrintStream(new FileOutputStream(FileDescriptor.out), true);
        private static final long RING_KB = (1 << 22) * 56L / 1024;

        public static void main(final String[] arguments) throws IOException {
            final long beforeKb = residentKb();
            for (int i = 0; i < 3; i++) {
                assertThrows(OutOfMemoryError.class, () -> Pipeline.builder().withoutCountersFile().ringSize(1 << 22)
                    .onAll((wc, sequence, endOfBatch) -> { }).start());
            }
            final long grownKb = residentKb() - beforeKb;
            OUT.println(grownKb < RING_KB ? "no memory of the ring is left" : grownKb + " KiB are left");
        }

        private static long residentKb() throws IOException {
            return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).findFirst().orElseThrow();
        }
    }

    private void assertNothingIsLeft(final List<Thread> threads) {
        assertFalse(threads.isEmpty());
        // A failed start waits for its threads for a second only.
        final Deadline deadline = Deadline.after(BOUND_NS);
        assertTrue(threads.stream().allMatch(deadline::join), threads::toString);
        assertEquals(List.of(), CountersFolder.files(folder));
    }

    private Pipeline start(final boolean runsToCompletion, final CompletionQueue queue) {
        final PipelineBuilder description = Pipeline.builder().ringSize(1024).countersFolder(folder).onAll(all).queue(queue);
        return runsToCompletion ? description.runToCompletion().start() : description.start();
    }

    private static void awaitFreed(final Pipeline pipeline) throws InterruptedException {
        while (!pipeline.slab().isFreed()) {
            Thread.sleep(1);
        }
    }

    private static CompletionHandler counting(final AtomicInteger ended) {
        return new Recorder() {
            @Override
            public void onShutdown() {
                ended.incrementAndGet();
            }
        };
    }

    /** A thread that the operating system refuses to create. */
    private static final class UncreatableThread extends Thread {
        UncreatableThread(final Runnable work, final String name) {
            super(work, name);
        }

        @Override
        public void start() {
            throw new OutOfMemoryError("unable to create native thread");
        }
    }

    /** A queue with a poll that blocks until the test releases it, and then writes its record. */
    private static final class SlowQueue implements CompletionQueue {
        private final SyntheticQueue completions;
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch mayEnd = new CountDownLatch(1);

        SlowQueue(final long count) {
            completions = new SyntheticQueue("slow", count);
        }

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            entered.countDown();
            try {
                mayEnd.await();
            } catch (final InterruptedException interrupted) {
                throw new AssertionError(interrupted);
            }
            return completions.poll(records, first, maxEntries);
        }

        @Override
        public String name() {
            return completions.name();
        }

        void awaitPoll() throws InterruptedException {
            assertTrue(entered.await(20, TimeUnit.SECONDS));
        }

        void goOn() {
            mayEnd.countDown();
        }
    }

    /** A queue without usable events. */
    private static final class UnusableQueue implements NotifyingQueue {
        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            return 0;
        }

        @Override
        public String name() {
            return "unusable";
        }

        @Override
        public int eventFd() {
            throw new IllegalStateException("no channel");
        }

        @Override
        public void arm() {
        }

        @Override
        public int takeEvents() {
            return 0;
        }
    }
}
