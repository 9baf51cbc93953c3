package io.ringpoll.pipeline;

import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.verbs.CompletionPath;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/**
 * Describes one handler and its thread; defaults depend on the machine.
 *
 * <p>Confined to the thread that builds the pipeline.
 */
public final class HandlerOptions {
    static final int NONE = -1;

    /** Index of the handler that precedes it by {@link PipelineBuilder#then}; {@link #NONE} if there is none. */
    int predecessor = NONE;
    Set<CompletionPath> paths = Set.of();
    /** A {@link BatchHandler} if {@link #inBatches}, otherwise a {@link CompletionHandler}. */
    HandlerLifecycle handler;
    boolean inBatches;
    int cpu = ThreadPlacement.ANY_CPU;
    WaitMode wait;
    WaitStrategy waitStrategy;
    FailurePolicy failurePolicy = FailurePolicy.CONTINUE;
    String roleName;
    int batchLimit;
    int maxHeld;
    List<String> after = List.of();

    HandlerOptions() {
    }

    /**
     * Names the handler's thread and counters; the default is {@code ringpoll-} and the paths.
     *
     * @param name unique in the pipeline
     * @return this
     */
    public HandlerOptions name(final String name) {
        this.roleName = name;
        return this;
    }

    /**
     * Pins the handler's thread.
     *
     * @param cpu number as in {@code /proc/cpuinfo}; -1, the default, for any
     * @return this
     */
    public HandlerOptions cpu(final int cpu) {
        this.cpu = cpu;
        return this;
    }

    /**
     * Sets how the handler waits; the default is {@link WaitMode#forCores}.
     *
     * @param wait a predefined wait
     * @return this
     */
    public HandlerOptions waitStrategy(final WaitMode wait) {
        this.wait = wait;
        return this;
    }

    /**
     * Sets a user's wait strategy; it is signalled when slots are published.
     *
     * @param strategy not shared with another handler
     * @return this
     */
    public HandlerOptions waitStrategy(final WaitStrategy strategy) {
        this.waitStrategy = strategy;
        return this;
    }

    /**
     * Sets the failure policy; the default is {@link FailurePolicy#CONTINUE}.
     *
     * @param policy called on the handler's thread
     * @return this
     */
    public HandlerOptions onFailure(final FailurePolicy policy) {
        this.failurePolicy = policy;
        return this;
    }

    /**
     * Sets the maximum number of slots in a batch, after which they are released to the poller; the default is a quarter of the
     * ring.
     *
     * @param slots at least 1 and at most the ring's size
     * @return this
     */
    public HandlerOptions batchLimit(final int slots) {
        this.batchLimit = slots;
        return this;
    }

    /**
     * Sets the maximum number of slots that the handler may hold with {@link SlotControl#hold}; the default is none.
     *
     * @param slots at most half of the ring
     * @return this
     */
    public HandlerOptions maxHeld(final int slots) {
        this.maxHeld = slots;
        return this;
    }

    /**
     * Delivers a slot only after other handlers have passed and released it.
     *
     * @param names of handlers described earlier
     * @return this
     */
    public HandlerOptions after(final String... names) {
        Objects.requireNonNull(names, "the names of the handlers before this one are null");
        for (final String name : names) {
            Objects.requireNonNull(name, "a name among the names of the handlers before this one is null");
        }
        this.after = List.of(names);
        return this;
    }

    /** The immutable configuration of the handler, with the defaults filled in. */
    HandlerConfig conclude(final List<HandlerOptions> all, final WaitMode defaultWait, final int defaultBatchLimit) {
        final WaitMode effectiveWait = wait != null ? wait : defaultWait;
        final boolean own = waitStrategy != null;
        return new HandlerConfig(
            roleName,
            paths,
            handler,
            inBatches,
            predecessors(all),
            own ? waitStrategy : effectiveWait.newWaitStrategy(),
            own || effectiveWait.isSignalled(),
            failurePolicy,
            cpu,
            batchLimit > 0 ? batchLimit : defaultBatchLimit,
            maxHeld);
    }

    private List<Integer> predecessors(final List<HandlerOptions> all) {
        final List<Integer> positions = new ArrayList<>();
        if (predecessor != NONE) {
            positions.add(predecessor);
        }
        for (int i = 0; i < all.size(); i++) {
            if (after.contains(all.get(i).roleName) && !positions.contains(i)) {
                positions.add(i);
            }
        }
        return positions;
    }

    /** A name for a handler of some paths, for instance {@code send-write+receive}. */
    static String label(final Set<CompletionPath> paths) {
        if (paths.size() == CompletionPath.values().length) {
            return "all";
        }
        final List<String> labels = new ArrayList<>();
        for (final CompletionPath path : paths) {
            labels.add(label(path));
        }
        return String.join("+", labels);
    }

    static String label(final CompletionPath path) {
        return path.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static Set<CompletionPath> copyOf(final Set<CompletionPath> paths) {
        for (final CompletionPath path : paths) {
            Objects.requireNonNull(path, "a path among the handler's paths is null");
        }
        return paths.isEmpty() ? Set.of() : EnumSet.copyOf(paths);
    }
}
