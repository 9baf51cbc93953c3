package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.pipeline.InvokedAgent;
import io.ringpoll.os.ThreadAffinity;
import java.lang.management.ManagementFactory;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.SleepingIdleStrategy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The two threads of a poller whose duty cycles are those of the test. */
@Timeout(60)
class ScriptedPollingTest {
    private static final long WAIT_S = 20;

    private final RequestThreads threads = new RequestThreads("worker-", true);
    private final ConcurrentLinkedQueue<Runnable> cycles = new ConcurrentLinkedQueue<>();
    private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();
    private final AtomicInteger ended = new AtomicInteger();
    private volatile boolean isAlive = true;
    private PollingThreads polling;

    @AfterEach
    void end() {
        isAlive = false;
        if (polling != null) {
            polling.end();
        }
        threads.end();
    }

    /** Makes the duty cycles that the test adds. */
    private final class ScriptedAgent implements InvokedAgent {
        @Override
        public void onStart() {
            Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> uncaught.add(failure));
        }

        @Override
        public int doWork() {
            final Runnable cycle = cycles.poll();
            if (cycle == null) {
                return 0;
            }
            cycle.run();
            return 1;
        }

        @Override
        public void onClose() {
            ended.incrementAndGet();
        }

        @Override
        public String roleName() {
            return "scripted";
        }

        @Override
        public boolean isInvoker() {
            return false;
        }

        @Override
        public boolean isCaller() {
            return false;
        }

        @Override
        public boolean isStarted() {
            return isAlive;
        }

        @Override
        public boolean isAlive() {
            return isAlive;
        }

        @Override
        public boolean makeOwnWork() {
            return false;
        }

        @Override
        public void replaceEndedThread() {
            // The test has no other threads.
        }

        @Override
        public long cycles() {
            return 0;
        }

        @Override
        public void replaceIdleThread(final long since) {
            // The test has no other threads.
        }

        @Override
        public boolean tryHold() {
            return false;
        }

        @Override
        public void release() {
            // Nothing is held.
        }
    }

    private void start(final int cpu, final IdleStrategy idle) {
        polling = new PollingThreads("scripted", cpu, new ScriptedAgent(), idle);
    }

    private void start(final int cpu) {
        start(cpu, new SleepingIdleStrategy(TimeUnit.MILLISECONDS.toNanos(1)));
    }

    private <T> T inRequest(final Supplier<T> request) throws Exception {
        final CompletableFuture<T> result = new CompletableFuture<>();
        cycles.add(() -> threads.execute(() -> result.complete(request.get())));
        return result.get(WAIT_S, TimeUnit.SECONDS);
    }

    /** Makes requests until the polling thread processes them; returns this thread. */
    private Thread pollingThread() throws Exception {
        while (true) {
            final Thread thread = inRequest(Thread::currentThread);
            if (thread.getName().startsWith("scripted")) {
                return thread;
            }
        }
    }

    private static Thread threadOf(final String name) {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().equals(name)).findAny()
            .orElse(null);
    }

    @Test
    void shouldProcessTheRequestsOfADutyCycleThatFails() throws Exception {
        start(-1);
        final CountDownLatch processed = new CountDownLatch(2);
        cycles.add(() -> {
            threads.execute(processed::countDown);
            threads.execute(processed::countDown);
            isAlive = false;
            throw new InternalError("the poller dies");
        });
        assertTrue(processed.await(WAIT_S, TimeUnit.SECONDS), "requests are lost");
        Nodes.await("the end of the thread", () -> threadOf("scripted") == null);
        assertEquals(List.of(), uncaught);
    }

    @Test
    void shouldEndBothThreadsWhenTheIdleStrategyFails() throws Exception {
        final IdleStrategy sleeping = new SleepingIdleStrategy(TimeUnit.MILLISECONDS.toNanos(1));
        start(-1, new IdleStrategy() {
            @Override
            public void idle(final int workCount) {
                if (!isAlive) {
                    throw new InternalError("the poller dies");
                }
                sleeping.idle(workCount);
            }

            @Override
            public void idle() {
                idle(0);
            }

            @Override
            public void reset() {
                sleeping.reset();
            }
        });
        pollingThread();
        isAlive = false;
        Nodes.await("the end of the threads", () -> threadOf("scripted") == null && threadOf("scripted-2") == null);
        assertEquals(List.of(), uncaught);
    }

    /** A late interrupt of a request that has returned, or of a handler. */
    @Test
    void shouldNotSpinAfterAnInterrupt() throws Exception {
        start(-1);
        pollingThread();
        final Thread[] both = {threadOf("scripted"), threadOf("scripted-2")};
        final long before = cpuNs(both);
        for (final Thread thread : both) {
            thread.interrupt();
        }
        for (int i = 0; i < 20; i++) {
            // The standby thread does not sleep.
            TimeUnit.MILLISECONDS.sleep(10);
            pollingThread();
        }
        final long usedNs = cpuNs(both) - before;
        assertTrue(usedNs < TimeUnit.MILLISECONDS.toNanos(100), usedNs + " ns");
    }

    private static long cpuNs(final Thread... both) {
        long ns = 0;
        for (final Thread thread : both) {
            ns += ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.threadId());
        }
        return ns;
    }

    @Test
    void shouldNotPinThreadsOfRequests() throws Exception {
        final BitSet all = ThreadAffinity.get();
        start(all.nextSetBit(0));
        assertEquals(all, inRequest(ThreadAffinity::get));
        assertTrue(pollingThread().getName().startsWith("scripted"));
        assertEquals(all, inRequest(() -> CompletableFuture.supplyAsync(ThreadAffinity::get, new ForkJoinPool(1)).join()));
    }
}
