package io.ringpoll.pipeline;

import com.lmax.disruptor.FixedSequenceGroup;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.internal.pipeline.SetHandler;
import io.ringpoll.internal.poller.PollerCounterSet;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.status.CountersManager;

/**
 * Handlers on threads of their own, behind a {@link CompletionRing}.
 */
final class ThreadedHandlers implements Handlers {
    private final CompletionRing ring;
    private final List<CompletionProcessor> processors = new ArrayList<>();
    /** For each handler, the positions of the handlers that pass a slot before it. */
    private final List<List<Integer>> predecessors = new ArrayList<>();
    private final List<PipelineThread> threads;
    /** The last slot to handle once it is known; guarded by this. */
    private long stopsAfter = Long.MAX_VALUE;

    ThreadedHandlers(
        final List<HandlerConfig> configs, final CompletionSlab slab, final CountersManager counters,
        final HandlerContext context, final StartGate startGate, final BiFunction<Runnable, String, Thread> newThread) {
        this.ring = new CompletionRing(slab);
        addProcessors(configs, slab, counters, context, startGate);
        this.threads = processors.stream()
            .map(processor -> new PipelineThread(processor.config().roleName(), slab, processor, newThread)).toList();
    }

    @Override
    public PipelineRing ring() {
        return ring;
    }

    @Override
    public void countPaths(final PollerCounterSet pathCounters) {
        final List<Set<CompletionPath>> counted =
            HandlerPaths.counted(processors.stream().map(processor -> processor.config().paths()).toList());
        for (int i = 0; i < processors.size(); i++) {
            processors.get(i).countPaths(counted.get(i), pathCounters);
        }
    }

    @Override
    public SetHandler set() {
        return null;
    }

    @Override
    public void onStall(final long elapsedNs) {
        final HandlerCounters counters = slowestProcessor().counters();
        if (elapsedNs == 0) {
            counters.causedStalls.incrementRelease();
        } else {
            counters.causedStallNs.getAndAddRelease(elapsedNs);
        }
    }

    @Override
    public String slowestHandler() {
        return slowestProcessor().config().roleName();
    }

    @Override
    public void start(final StartGate gate) {
        threads.forEach(thread -> thread.start(gate));
    }

    @Override
    public void onPollerStart() {
        // No handler runs on the polling thread.
    }

    @Override
    public IdleCalls idleCalls() {
        return null;
    }

    @Override
    public void onHandOver() {
        // No handler runs on the polling thread.
    }

    @Override
    public void onPollerEnd() {
        stopAfter(ring.cursor().get());
    }

    @Override
    public synchronized void onHandlerHalted() {
        if (stopsAfter != Long.MAX_VALUE) {
            stopAfter(stopsAfter);
        }
    }

    @Override
    public List<Thread> threads() {
        return threads.stream().map(PipelineThread::thread).toList();
    }

    @Override
    public List<HandlerCounters> counters() {
        return processors.stream().map(CompletionProcessor::counters).toList();
    }

    @Override
    public int indexOf(final String roleName) {
        return processors.stream().map(processor -> processor.config().roleName()).toList().indexOf(roleName);
    }

    @Override
    public boolean haveOthersPassed(final long sequence) {
        for (int i = 0; i < threads.size(); i++) {
            if (!isCaller(i) && processors.get(i).gatingSequence().get() < reachableForCaller(i, sequence)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean isFullBehindCaller() {
        for (int i = 0; i < threads.size(); i++) {
            if (isCaller(i)) {
                return ring.cursor().get() - processors.get(i).gatingSequence().get() >= ring.capacity();
            }
        }
        return false;
    }

    @Override
    public synchronized void stopAfter(final long sequence) {
        stopsAfter = sequence;
        for (int i = 0; i < processors.size(); i++) {
            processors.get(i).stopAfter(reachable(i, sequence));
        }
    }

    @Override
    public void endWithoutTask() {
        threads.forEach(thread -> thread.endWithoutTask(() -> { }));
    }

    @Override
    public long held() {
        return processors.stream().mapToLong(CompletionProcessor::held).sum();
    }

    /** The earliest stage among the slowest handlers: later stages only wait for it. */
    private CompletionProcessor slowestProcessor() {
        CompletionProcessor slowest = processors.getFirst();
        long least = slowest.gatingSequence().get();
        for (int i = 1; i < processors.size(); i++) {
            final long passed = processors.get(i).gatingSequence().get();
            if (passed < least) {
                least = passed;
                slowest = processors.get(i);
            }
        }
        return slowest;
    }

    private boolean isCaller(final int position) {
        return threads.get(position).thread() == Thread.currentThread();
    }

    /** The last slot that a handler can reach: not past a halted handler before it. */
    private long reachable(final int position, final long last) {
        long reachable = last;
        for (final int before : predecessors.get(position)) {
            final CompletionProcessor processor = processors.get(before);
            // Slots held by the halted handler may still be released.
            reachable = Math.min(reachable, processor.hasHalted() ? processor.position() : reachable(before, last));
        }
        return reachable;
    }

    /** The last slot that a handler can reach while the calling thread, possibly that of an earlier handler, waits. */
    private long reachableForCaller(final int position, final long last) {
        long reachable = last;
        for (final int before : predecessors.get(position)) {
            final CompletionProcessor processor = processors.get(before);
            final boolean stays = isCaller(before) || processor.hasHalted();
            reachable = Math.min(reachable, stays ? processor.gatingSequence().get() : reachableForCaller(before, last));
        }
        return reachable;
    }

    private void addProcessors(
        final List<HandlerConfig> configs, final CompletionSlab slab, final CountersManager counters,
        final HandlerContext context, final StartGate startGate) {
        final List<List<WaitStrategy>> signalledBy = new ArrayList<>();
        final List<WaitStrategy> signalledByPoller = new ArrayList<>();
        final Set<Integer> followed = new HashSet<>();
        for (final HandlerConfig config : configs) {
            final List<Integer> before = positions(config.after());
            final HandlerBarrier barrier = newBarrier(config, sequenceOf(before));
            predecessors.add(before);
            processors.add(new CompletionProcessor(
                config, slab, barrier, new HandlerCounters(counters, config.roleName()), context, startGate));
            signalledBy.add(new ArrayList<>());
            followed.addAll(before);
            if (config.isSignalled() && before.isEmpty()) {
                signalledByPoller.add(config.waitStrategy());
            } else if (config.isSignalled()) {
                before.forEach(position -> signalledBy.get(position).add(config.waitStrategy()));
            }
        }
        final List<Sequence> last = new ArrayList<>();
        for (int i = 0; i < processors.size(); i++) {
            processors.get(i).signal(signalledBy.get(i).toArray(new WaitStrategy[0]));
            if (!followed.contains(i)) {
                last.add(processors.get(i).gatingSequence());
            }
        }
        ring.gate(last, signalledByPoller);
    }

    private HandlerBarrier newBarrier(final HandlerConfig config, final Sequence dependent) {
        if (config.waitMode() == null) {
            return new CheckedBarrier(ring.cursor(), dependent, config);
        }
        return config.idleTimeoutNs() > 0 ?
            new IdleBarrier(ring.cursor(), dependent, config.waitStrategy(), config, SystemNanoClock.INSTANCE) :
            new HandlerBarrier(ring.cursor(), dependent, config.waitStrategy());
    }

    /** The positions of the handlers with some names; handlers follow earlier ones only. */
    private List<Integer> positions(final List<String> names) {
        return IntStream.range(0, processors.size())
            .filter(i -> names.contains(processors.get(i).config().roleName())).boxed().toList();
    }

    /** The sequence that the handlers at some positions have passed; without any, that of the poller. */
    private Sequence sequenceOf(final List<Integer> positions) {
        if (positions.isEmpty()) {
            return ring.cursor();
        }
        final Sequence[] passed =
            positions.stream().map(position -> processors.get(position).gatingSequence()).toArray(Sequence[]::new);
        return passed.length == 1 ? passed[0] : new FixedSequenceGroup(passed);
    }
}
