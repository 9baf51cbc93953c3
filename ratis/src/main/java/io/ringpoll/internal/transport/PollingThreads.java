package io.ringpoll.internal.transport;

import io.ringpoll.internal.pipeline.InvokedAgent;
import io.ringpoll.os.ThreadAffinity;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.IdleStrategy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The two threads of a poller whose handlers run on the polling thread. One of them polls. Between two duty cycles it also
 * processes a request that a handler has left ({@link RequestThreads}), so that no thread has to be woken for it. The other one
 * is the standby: it takes over the polling when the engine does not return from the request, because it waits for a lock or a
 * disk.
 * <pre>
 *   first    poll | poll | request | poll | request that waits ................... | standby
 *   second   standby ............................... takes over: | poll | poll | poll | request
 * </pre>
 *
 * <p>Of several requests in one duty cycle the polling thread processes one, and request threads the others at the same time.
 * They process all while requests are rare, so that the standby thread can sleep, and for a second after a take-over: an
 * engine that waits often holds up the connections once in a second, for some milliseconds.
 *
 * <p>If the threads are pinned, a request may run on all CPUs nevertheless, because threads that the engine creates in it
 * inherit its CPUs, and because the other thread needs the CPU when it takes over.
 *
 * <p>{@link #end()} may be called by any thread, {@link #leave} by handlers.
 */
final class PollingThreads {
    private static final Logger LOG = LoggerFactory.getLogger(PollingThreads.class);
    /** Period of the checks: a request that waits holds up the connections for up to two of them. */
    private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(2);
    /** Checks without a further request after which the standby thread sleeps. */
    private static final int QUIET_CHECKS = 10;
    /** Requests are rare if the time between them is longer. */
    private static final long LOAD_NS = TimeUnit.MILLISECONDS.toNanos(50);
    /** Time after a take-over in which request threads process all requests. */
    private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

    private final InvokedAgent agent;
    private final IdleStrategy idle;
    private final int cpu;
    /** The CPUs of the first thread before it was pinned; null if the threads are not pinned. Set before there is a request. */
    private BitSet unpinned;
    private final PollingThread first;
    /** The second thread is created by the polling thread when there is load for the first time. */
    private boolean isSecondCreated;
    /**
     * Even while the polling thread makes duty cycles, odd while it processes a request. The thread that makes an odd number even
     * polls from then on: the same one at the end of the request, or the one that takes over.
     */
    private final AtomicLong turn = new AtomicLong();
    /** The standby thread; null while there is none. */
    private volatile PollingThread standby;
    /** Whether the standby thread sleeps. */
    private volatile boolean asleep;
    private volatile boolean ended;
    /** Times of the latest request and of the latest take-over; they belong to the polling thread. */
    private long requestNs;
    private long takeOverNs;

    /** A request that a handler has left. */
    private record Left(RequestThreads threads, Runnable task) {
    }

    /** One of the two threads. */
    private final class PollingThread extends Thread {
        private final ArrayDeque<Left> left = new ArrayDeque<>();
        private final CompletableFuture<Void> started = new CompletableFuture<>();
        private final boolean isFirst;
        private boolean inCycle;

        private PollingThread(final String name, final boolean isFirst) {
            super(null, null, name, 0, false);
            this.isFirst = isFirst;
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                if (cpu >= 0) {
                    pin();
                }
                if (isFirst) {
                    agent.onStart();
                }
                started.complete(null);
            } catch (final RuntimeException | Error failure) {
                started.completeExceptionally(failure);
                return;
            }
            boolean polls = isFirst;
            while (!ended && agent.isAlive()) {
                polls = polls ? poll() : standBy();
            }
            end();
        }

        private BitSet unpinned() {
            return unpinned;
        }

        private void pin() {
            if (isFirst) {
                unpinned = ThreadAffinity.get();
            }
            ThreadAffinity.pin(cpu);
        }

        /** Makes a duty cycle and processes the requests that it leaves; returns false if the other thread polls now. */
        private boolean poll() {
            int workCount = 0;
            inCycle = true;
            try {
                workCount = agent.doWork();
            } catch (final RuntimeException | Error reported) {
                // The pipeline has halted and has called its listener. Requests that were left before are not lost.
                workCount = 0;
            } finally {
                inCycle = false;
            }
            if (!left.isEmpty() && !processLeft()) {
                return false;
            }
            try {
                idle.idle(workCount);
            } catch (final RuntimeException | Error reported) {
                // As above.
                return true;
            } finally {
                // A handler may have left it: a parking strategy would spin.
                Thread.interrupted();
            }
            return true;
        }

        private boolean processLeft() {
            final Left one = mayProcess() ? left.pollFirst() : null;
            for (Left other = left.pollFirst(); other != null; other = left.pollFirst()) {
                other.threads.handOff(other.task);
            }
            return one == null || process(one);
        }

        /** Processes a request on this thread; returns false if the other one has taken over. */
        private boolean process(final Left request) {
            final long number = turn.incrementAndGet();
            if (asleep) {
                LockSupport.unpark(standby);
            }
            if (unpinned == null) {
                request.threads.runHere(request.task);
            } else {
                runUnpinned(request);
            }
            return turn.compareAndSet(number, number + 1);
        }

        private void runUnpinned(final Left request) {
            runOn(unpinned);
            request.threads.runHere(request.task);
            final BitSet pinned = new BitSet();
            pinned.set(cpu);
            runOn(pinned);
        }

        /** Whether the other thread can take over, and requests are so frequent that this is worth it. */
        private boolean mayProcess() {
            final long nowNs = System.nanoTime();
            final boolean isRare = nowNs - requestNs > LOAD_NS;
            requestNs = nowNs;
            if (isRare || nowNs - takeOverNs < PAUSE_NS) {
                return false;
            }
            if (!isSecondCreated) {
                createSecond();
            }
            return standby != null;
        }

        /** Waits until the polling thread does not return from a request; returns true if this thread polls from now on. */
        private boolean standBy() {
            standby = this;
            long seen = turn.get();
            int quiet = 0;
            while (!ended) {
                // A late one, meant for a request that has returned: a thread that waits would spin.
                Thread.interrupted();
                if (quiet < QUIET_CHECKS) {
                    LockSupport.parkNanos(this, CHECK_NS);
                } else {
                    sleepSince(seen);
                    quiet = 0;
                }
                final long now = turn.get();
                if (now == seen && (now & 1) == 1 && takeOver(now)) {
                    return true;
                }
                quiet = now == seen ? quiet + 1 : 0;
                seen = now;
            }
            return false;
        }

        /** Sleeps until there is another request. */
        private void sleepSince(final long seen) {
            asleep = true;
            // Either the change is seen here, or the polling thread sees that this one sleeps.
            if (turn.get() == seen && !ended) {
                LockSupport.park(this);
            }
            asleep = false;
        }

        private boolean takeOver(final long request) {
            // Before this thread polls: then there is no standby.
            standby = null;
            if (turn.compareAndSet(request, request + 1)) {
                takeOverNs = System.nanoTime();
                return true;
            }
            standby = this;
            return false;
        }
    }

    /**
     * Starts the threads of an agent.
     *
     * @param name  of the polling thread
     * @param cpu   to which the threads are pinned; -1 for none
     * @param agent is started
     * @param idle  its idle strategy
     * @throws RuntimeException if the agent does not start; an {@link OutOfMemoryError} if there is no thread
     */
    PollingThreads(final String name, final int cpu, final InvokedAgent agent, final IdleStrategy idle) {
        this.cpu = cpu;
        this.agent = agent;
        this.idle = idle;
        requestNs = System.nanoTime() - LOAD_NS;
        takeOverNs = requestNs - PAUSE_NS;
        first = new PollingThread(name, true);
        first.start();
        try {
            first.started.join();
        } catch (final CompletionException failed) {
            if (failed.getCause() instanceof final RuntimeException failure) {
                throw failure;
            }
            throw (Error) failed.getCause();
        }
    }

    /** Moves the calling thread to some CPUs. */
    private static void runOn(final BitSet cpus) {
        try {
            ThreadAffinity.set(cpus);
        } catch (final RuntimeException refused) {
            LOG.debug("the CPUs of the process have changed", refused);
        }
    }

    /**
     * The work of a thread that the calling one creates: a thread inherits the CPUs of its creator, but those of a pinned polling
     * thread are for polling.
     */
    static Runnable unpinned(final Runnable work) {
        final BitSet cpus = Thread.currentThread() instanceof final PollingThread creator ? creator.unpinned() : null;
        return cpus == null ? work : () -> {
            runOn(cpus);
            work.run();
        };
    }

    /** Called by the polling thread. */
    private void createSecond() {
        isSecondCreated = true;
        try {
            new PollingThread(first.getName() + "-2", false).start();
        } catch (final OutOfMemoryError none) {
            LOG.warn("{}: there is no thread that could take over: request threads process all requests", first.getName(), none);
        }
    }

    /**
     * Leaves the task of a request to the polling thread, which processes it after the present duty cycle or hands it to the
     * request threads.
     *
     * @return false if the calling thread is no polling thread in a duty cycle
     */
    static boolean leave(final RequestThreads threads, final Runnable task) {
        if (Thread.currentThread() instanceof final PollingThread thread && thread.inCycle) {
            thread.left.addLast(new Left(threads, task));
            return true;
        }
        return false;
    }

    /** Ends the threads: one that processes a request, when it returns. */
    void end() {
        ended = true;
        LockSupport.unpark(first);
        final PollingThread other = standby;
        if (other != null) {
            LockSupport.unpark(other);
        }
    }
}
