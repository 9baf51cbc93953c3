package io.ringpoll.pipeline;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.internal.pipeline.SetHandler;
import io.ringpoll.internal.poller.PollerCounterSet;
import io.ringpoll.internal.poller.TimedWork;
import java.util.List;
import java.util.Set;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.status.CountersManager;

/**
 * Handlers that run on the polling thread, each batch to its end before the next poll.
 */
final class RunToCompletionHandlers implements Handlers {
    private final List<InPlaceHandler> handlers;
    private final RunToCompletionRing ring;
    private final TimedWork timedWork;
    /** Null if there is none. */
    private final SetHandler set;
    private volatile Thread pollerThread;

    RunToCompletionHandlers(
        final List<HandlerConfig> configs, final CompletionSlab slab, final CountersManager counters,
        final HandlerContext context) {
        this.handlers = configs.stream()
            .map(config -> new InPlaceHandler(config, slab, new HandlerCounters(counters, config.roleName()), context)).toList();
        TimedWork timed = TimedWork.NONE;
        SetHandler ofSet = null;
        for (final HandlerConfig config : configs) {
            if (config.handler() instanceof final TimedWork work) {
                timed = work;
            }
            if (config.handler() instanceof final SetHandler only) {
                ofSet = only;
                only.onCounters(counters);
            }
        }
        this.timedWork = timed;
        this.set = ofSet;
        this.ring = new RunToCompletionRing(slab, handlers);
    }

    @Override
    public PipelineRing ring() {
        return ring;
    }

    @Override
    public void countPaths(final PollerCounterSet pathCounters) {
        final List<Set<CompletionPath>> counted = HandlerPaths.counted(handlers.stream().map(InPlaceHandler::paths).toList());
        for (int i = 0; i < handlers.size(); i++) {
            handlers.get(i).countPaths(counted.get(i), pathCounters);
        }
    }

    @Override
    public boolean runInPlace() {
        return true;
    }

    @Override
    public SetHandler set() {
        return set;
    }

    @Override
    public TimedWork timedWork() {
        return timedWork;
    }

    @Override
    public void start(final StartGate gate) {
        // The handlers start on the polling thread.
    }

    @Override
    public void onPollerStart() throws HandlerNotStarted {
        pollerThread = Thread.currentThread();
        for (final InPlaceHandler handler : handlers) {
            handler.start();
        }
    }

    @Override
    public IdleCalls idleCalls() {
        final List<InPlaceHandler> timed = handlers.stream().filter(handler -> handler.idleTimeoutNs() > 0).toList();
        return timed.isEmpty() ? null : new IdleCalls(timed, SystemNanoClock.INSTANCE);
    }

    @Override
    public void onHandOver() {
        pollerThread = Thread.currentThread();
    }

    @Override
    public void onPollerEnd() {
        handlers.forEach(InPlaceHandler::end);
    }

    @Override
    public void onHandlerHalted() {
        // No handler waits for another.
    }

    @Override
    public boolean isFullBehindCaller() {
        return false;
    }

    @Override
    public List<Thread> threads() {
        return List.of();
    }

    @Override
    public List<HandlerCounters> counters() {
        return handlers.stream().map(InPlaceHandler::counters).toList();
    }

    @Override
    public int indexOf(final String roleName) {
        return handlers.stream().map(InPlaceHandler::roleName).toList().indexOf(roleName);
    }

    @Override
    public boolean haveOthersPassed(final long sequence) {
        return Thread.currentThread() == pollerThread || ring.gatingSequence().get() >= sequence;
    }

    @Override
    public void stopAfter(final long sequence) {
        // The handlers end with the poller.
    }

    @Override
    public void endWithoutTask() {
        // They have no threads.
    }

    @Override
    public long held() {
        return 0;
    }
}
