package io.ringpoll.pipeline;

import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.pipeline.InvokedAgent;
import io.ringpoll.internal.poller.CompletionPoller;
import io.ringpoll.internal.poller.CompletionPoller.Outcome;
import io.ringpoll.internal.poller.MemoryFault;
import io.ringpoll.internal.poller.PollerLoop;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.IdleStrategy;

/**
 * The poller of a pipeline as an agent that the user's threads start, invoke and close.
 *
 * <p>One thread at a time is inside: it has the lease, a word with its id that costs a compare-and-swap for each duty cycle. The
 * invoking thread may change between two duty cycles; the next thread then takes over the commands and the polls of all queues. A
 * second thread during a duty cycle is refused. A thread that waits for the poller, and has made the latest duty cycle, makes the
 * next ones itself, because no other thread may do so. A thread that closes the pipeline does the same if the invoking thread has
 * ended, and otherwise ends the poller if no thread invokes it. A layer above may take over from a thread that makes no duty
 * cycles.
 * <pre>
 *   NEW -&gt; STARTED -&gt; ENDED
 *    |                  ^
 *    +------------------+
 * </pre>
 */
final class PollerAgent implements InvokedAgent, Polling {
    private static final VarHandle LEASE;
    private static final VarHandle CYCLES;
    private static final long FREE = 0;
    /** Maximum time for which a closing thread waits for the next invocation. */
    private static final long INVOCATION_NS = TimeUnit.SECONDS.toNanos(1);
    /** Maximum time for which {@link #onClose} waits for the duty cycle of another thread. */
    private static final long CYCLE_NS = TimeUnit.SECONDS.toNanos(1);
    /** Period of a waiting thread's checks: each is a command, which may have no thread to execute it. */
    private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(20);

    /** Pause of a thread that cannot idle on the queues. */
    private static final long NOT_INVOKED_NS = TimeUnit.MILLISECONDS.toNanos(1);

    static {
        try {
            LEASE = MethodHandles.lookup().findVarHandle(PollerAgent.class, "lease", long.class);
            CYCLES = MethodHandles.lookup().findVarHandle(PollerAgent.class, "cycles", long.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The states of an agent. */
    private enum State {
        NEW, STARTED, ENDED
    }

    private final CompletionPoller poller;
    private final Handlers handlers;
    /** Null if no handler has a time-out. */
    private final IdleCalls idleCalls;
    /** Null unless an idle strategy was set. */
    private final IdleStrategy idleStrategy;
    private final CompletionSlab slab;
    private final ErrorHandler onDied;
    /** Id of the thread inside, negative if it waits for the poller or ends it; {@link #FREE} if there is none. */
    @SuppressWarnings("unused")
    private long lease;
    /** The thread of the latest duty cycle; written by the thread inside. */
    private volatile Thread invoker;
    /** Written by the thread inside. */
    private volatile State state = State.NEW;
    private volatile boolean running = true;
    private volatile boolean retained;
    /** Duty cycles that have begun; written by the thread inside. */
    private long cycles;

    PollerAgent(
        final CompletionPoller poller, final Handlers handlers, final IdleCalls idleCalls, final PollerLoop idle,
        final CompletionSlab slab, final ErrorHandler onDied) {
        this.poller = poller;
        this.handlers = handlers;
        this.idleCalls = idleCalls;
        this.idleStrategy = idle == null ? null : new AgentIdle(idle);
        this.slab = slab;
        this.onDied = onDied;
    }

    /**
     * Idles the invoking thread: inside, because it may sleep on the poller's queues, which no other thread must change then. A
     * command and the close end a sleep.
     */
    private final class AgentIdle implements IdleStrategy {
        private final PollerLoop loop;

        private AgentIdle(final PollerLoop loop) {
            this.loop = loop;
        }

        @Override
        public void idle(final int workCount) {
            final Thread caller = Thread.currentThread();
            if (state != State.STARTED || enter(caller.threadId()) != FREE) {
                // The runner continues after the end.
                LockSupport.parkNanos(NOT_INVOKED_NS);
                return;
            }
            if (invoker != caller) {
                leave();
                return;
            }
            try {
                if (state == State.STARTED && running) {
                    loop.idle(workCount);
                }
            } catch (final Throwable failure) {
                die(failure);
                throw failure;
            } finally {
                // As after a duty cycle: a handler's timed work may have closed the agent, and no duty cycle may follow.
                release();
            }
        }

        @Override
        public void idle() {
            idle(0);
        }

        @Override
        public void reset() {
            // The next call after work does.
        }

        @Override
        public String alias() {
            return "of agent " + roleName();
        }
    }

    /** The idle strategy for the invoking thread; null unless one was set. */
    IdleStrategy idleStrategy() {
        return idleStrategy;
    }

    @Override
    public String roleName() {
        return poller.roleName();
    }

    @Override
    public void onStart() {
        final Thread caller = Thread.currentThread();
        final long holder = enter(caller.threadId());
        if (holder != FREE) {
            throw refusal(holder, "started");
        }
        try {
            if (!running || state != State.NEW) {
                throw new IllegalStateException("agent " + roleName() + " cannot be started: it " +
                    (state == State.STARTED ? "has been started before" : "has ended, or its pipeline is closed"));
            }
            begin(caller);
        } finally {
            leave();
        }
    }

    @Override
    public int doWork() {
        if (state == State.ENDED) {
            // The user's runner continues; no thread needs the lease any more.
            return 0;
        }
        final Thread caller = Thread.currentThread();
        final long holder = enter(caller.threadId());
        if (holder != FREE) {
            if (holder < FREE && holder != -caller.threadId()) {
                // The other thread waits for the poller, and makes this duty cycle.
                return 0;
            }
            throw refusal(holder, "invoked");
        }
        try {
            return doCycle(caller);
        } finally {
            leave();
        }
    }

    @Override
    public void onClose() {
        stop();
        final Thread caller = Thread.currentThread();
        final long id = caller.threadId();
        if (!isHolder((long) LEASE.getVolatile(this), id) &&
            !Deadline.after(CYCLE_NS).await(() -> tryEnd(caller, id))) {
            throw refusal((long) LEASE.getVolatile(this), "closed");
        }
        // Else a handler or task closes the agent, which ends after this duty cycle.
    }

    @Override
    public Thread thread() {
        return invoker;
    }

    @Override
    public void start() {
        slab.retain();
        retained = true;
    }

    @Override
    public void stop() {
        running = false;
        poller.stop();
    }

    @Override
    public boolean hasStarted() {
        return retained;
    }

    @Override
    public boolean isAlive() {
        return state != State.ENDED;
    }

    @Override
    public boolean isCaller() {
        return isHolder((long) LEASE.getVolatile(this), Thread.currentThread().threadId());
    }

    @Override
    public boolean isInvoker() {
        return invoker == Thread.currentThread() && state == State.STARTED;
    }

    @Override
    public boolean isStarted() {
        return state == State.STARTED;
    }

    @Override
    public boolean makeOwnWork() {
        return makeOwnCycle() == Outcome.WORKED;
    }

    @Override
    public boolean await(final Deadline deadline, final BooleanSupplier condition) {
        return deadline.await(() -> {
            do {
                if (condition.getAsBoolean()) {
                    return true;
                }
            } while (!deadline.isOver() && makeOwnCycle() == Outcome.WORKED);
            return condition.getAsBoolean();
        });
    }

    @Override
    public boolean tryLock(final Deadline deadline, final Lock lock) {
        return invoker == Thread.currentThread() ? await(deadline, lock::tryLock) : deadline.tryLock(lock);
    }

    @Override
    public boolean awaitEmptyRound(final Deadline deadline) {
        if (invoker != Thread.currentThread()) {
            return PollerThread.awaitEmptyRound(poller, deadline);
        }
        return deadline.await(() -> {
            Outcome outcome;
            do {
                outcome = makeOwnCycle();
            } while (outcome == Outcome.WORKED && !deadline.isOver());
            return outcome == Outcome.EMPTY;
        });
    }

    @Override
    public void replaceEndedThread() {
        final Thread latest = invoker;
        if (latest != null && !latest.isAlive()) {
            takeOverIf(() -> invoker == latest);
        }
    }

    @Override
    public long cycles() {
        return (long) CYCLES.getOpaque(this);
    }

    @Override
    public void replaceIdleThread(final long since) {
        if (invoker != Thread.currentThread()) {
            takeOverIf(() -> cycles == since);
        }
    }

    @Override
    public boolean tryHold() {
        final Thread caller = Thread.currentThread();
        while (isInvoker()) {
            if (enter(caller.threadId()) == FREE) {
                if (isInvoker()) {
                    return true;
                }
                leave();
            }
            // Another thread takes over, or leaves soon.
            Thread.yield();
        }
        return false;
    }

    @Override
    public void release() {
        try {
            if (!running) {
                end();
            }
        } finally {
            leave();
        }
    }

    @Override
    public TimeoutException explain(final TimeoutException late) {
        final Thread latest = invoker;
        if (state != State.STARTED) {
            return late;
        }
        final boolean inCycle = (long) LEASE.getVolatile(this) != FREE;
        final TimeoutException explained = new TimeoutException(late.getMessage() + ": agent " + roleName() +
            (inCycle ? " is in a duty cycle of thread " + latest.getName() :
                " was not invoked in this time, and last by thread " + latest.getName() +
                    (latest.isAlive() ? "" : ", which has ended")));
        explained.initCause(late);
        return explained;
    }

    @Override
    public boolean awaitEnd(final Deadline deadline) {
        if (!retained) {
            return true;
        }
        final Thread caller = Thread.currentThread();
        if (state == State.STARTED && invoker != caller) {
            Deadline.after(Math.min(INVOCATION_NS, deadline.leftNs() / 2))
                .await(() -> state == State.ENDED || !invoker.isAlive());
        }
        return deadline.await(() -> tryEnd(caller, -caller.threadId()));
    }

    @Override
    public long checkNs() {
        return CHECK_NS;
    }

    /** Takes the lease if it is free; returns its value before. */
    private long enter(final long id) {
        return (long) LEASE.compareAndExchange(this, FREE, id);
    }

    private void leave() {
        LEASE.setRelease(this, FREE);
    }

    private static boolean isHolder(final long holder, final long threadId) {
        return Math.abs(holder) == threadId;
    }

    private void begin(final Thread caller) {
        try {
            poller.onStart();
            invoker = caller;
            state = State.STARTED;
            handlers.onPollerStart();
        } catch (final HandlerNotStarted notStarted) {
            final PipelineStartException failure = new PipelineStartException("handler " + notStarted.roleName() +
                " did not start: " + ErrorRecorder.describe(notStarted.getCause()), notStarted.getCause());
            die(failure);
            throw failure;
        } catch (final Throwable failure) {
            die(failure);
            throw failure;
        }
    }

    /** Makes a duty cycle, the last one if the end has been requested; with the lease. */
    private int doCycle(final Thread caller) {
        if (state != State.STARTED) {
            if (state == State.NEW) {
                throw new IllegalStateException("agent " + roleName() +
                    " has not been started: AgentRunner and AgentInvoker.start() call onStart before doWork");
            }
            return 0;
        }
        if (caller != invoker) {
            takeOver(caller);
        }
        CYCLES.setOpaque(this, cycles + 1);
        int workCount = 0;
        if (running) {
            try {
                workCount = work();
            } catch (final Throwable failure) {
                die(failure);
                throw failure;
            }
        }
        if (!running) {
            end();
        }
        return workCount;
    }

    private int work() {
        try {
            final int workCount = poller.doWork();
            if (workCount == 0) {
                // The runner may sleep after each duty cycle.
                poller.runTimedWork();
            }
            if (idleCalls != null && (workCount > 0 || poller.outcome() == Outcome.EMPTY)) {
                idleCalls.onRound(workCount);
            }
            return workCount;
        } catch (final Throwable failure) {
            // Before the failure is reported, which an error of the counters must not interrupt.
            MemoryFault.check();
            throw failure;
        }
    }

    /** Makes the calling thread the polling thread; with the lease, between two duty cycles. */
    private void takeOver(final Thread caller) {
        poller.onHandOver();
        handlers.onHandOver();
        // Last: a thread that is no longer the invoker submits commands, and does not execute them.
        invoker = caller;
    }

    /** Takes over if a condition holds between two duty cycles; no effect during one. */
    private void takeOverIf(final BooleanSupplier condition) {
        final Thread caller = Thread.currentThread();
        if (state == State.STARTED && enter(-caller.threadId()) == FREE) {
            try {
                if (state == State.STARTED && condition.getAsBoolean()) {
                    takeOver(caller);
                }
            } finally {
                leave();
            }
        }
    }

    /**
     * Makes a duty cycle if the calling thread has made the latest one.
     *
     * @return null if another thread makes the duty cycles, or the poller has ended
     */
    private Outcome makeOwnCycle() {
        final Thread caller = Thread.currentThread();
        if (invoker != caller || enter(-caller.threadId()) != FREE) {
            return null;
        }
        try {
            if (invoker != caller || state != State.STARTED) {
                return null;
            }
            doCycle(caller);
            return state == State.STARTED ? poller.outcome() : null;
        } catch (final Throwable recorded) {
            // The pipeline has halted.
            return null;
        } finally {
            leave();
        }
    }

    /** Ends the poller unless a thread is inside; returns whether it has ended. */
    private boolean tryEnd(final Thread caller, final long id) {
        if (state != State.ENDED && enter(id) == FREE) {
            try {
                if (state == State.STARTED && invoker != caller) {
                    takeOver(caller);
                }
                end();
            } finally {
                leave();
            }
        }
        return state == State.ENDED;
    }

    /** Halts the pipeline and ends the poller; with the lease. */
    private void die(final Throwable failure) {
        stop();
        onDied.onError(failure);
        end();
    }

    /** Ends the poller and the handlers on its thread; with the lease. */
    private void end() {
        if (state != State.ENDED) {
            try {
                poller.onClose();
            } finally {
                handlers.onPollerEnd();
                try {
                    slab.release();
                } finally {
                    // Last: a thread that waits for the end finds the memory released.
                    state = State.ENDED;
                }
            }
        }
    }

    private IllegalStateException refusal(final long holder, final String verb) {
        final Thread caller = Thread.currentThread();
        if (isHolder(holder, caller.threadId())) {
            return new IllegalStateException("agent " + roleName() + " cannot be " + verb +
                " in its own duty cycle, by a handler or task on thread " + caller.getName());
        }
        final Thread latest = invoker;
        final String other = latest != null && isHolder(holder, latest.threadId()) ? latest.getName() : "#" + Math.abs(holder);
        return new IllegalStateException("agent " + roleName() + " cannot be " + verb + " by thread " + caller.getName() +
            " during the duty cycle of thread " + other + ": one thread at a time invokes an agent");
    }
}
