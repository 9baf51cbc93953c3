package io.ringpoll.pipeline;

import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.poller.PollerLoop;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.CompletionQueue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Collects all errors of a description, one line each, with the thing and the remedy.
 */
final class PipelineCheck {
    private final PipelineBuilder description;
    private final List<String> faults = new ArrayList<>();

    PipelineCheck(final PipelineBuilder description) {
        this.description = description;
    }

    List<String> faults() {
        checkSet(description.name, "name");
        checkSet(description.pinning, "pinning");
        checkSet(description.failureListener, "failure listener");
        checkSet(description.undelivered, "consumer of undelivered completions");
        checkSizes();
        checkPaths();
        final Set<String> names = new HashSet<>();
        final Set<WaitStrategy> strategies = Collections.newSetFromMap(new IdentityHashMap<>());
        for (final HandlerOptions options : description.handlers) {
            checkHandler(options, names, strategies);
            names.add(options.roleName);
        }
        if (names.contains(description.effectivePollerName())) {
            faults.add("the poller and a handler are both named " + description.effectivePollerName());
        }
        checkQueues();
        return faults;
    }

    private void checkSet(final Object value, final String name) {
        if (value == null) {
            faults.add("the " + name + " is null");
        }
    }

    private void checkQueues() {
        final Set<CompletionQueue> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        for (final CompletionQueue queue : description.queues) {
            if (queue == null) {
                faults.add("a completion queue is null");
            } else if (!seen.add(queue)) {
                faults.add(queue.name() + " was added twice");
            }
        }
    }

    private void checkSizes() {
        final int ringSize = description.ringSize;
        if (ringSize < 2 || ringSize > CompletionSlab.MAX_CAPACITY || Integer.bitCount(ringSize) != 1) {
            faults.add("ring size " + ringSize + " is not a power of two from 2 to " + CompletionSlab.MAX_CAPACITY);
        }
        // The limits derive from the ring size: without a ring, their faults would be consequences of the first.
        if (hasRing() && (description.effectiveBatchLimit() < 1 || description.effectiveBatchLimit() > ringSize)) {
            faults.add("batch limit " + description.effectiveBatchLimit() + " is not from 1 to the ring size, " + ringSize);
        }
        checkCpu("the poller", description.pollerCpu);
    }

    private boolean hasRing() {
        return description.ringSize >= 2;
    }

    private void checkPaths() {
        final Set<CompletionPath> unhandled = EnumSet.allOf(CompletionPath.class);
        unhandled.removeAll(description.discarded);
        for (final HandlerOptions options : description.handlers) {
            unhandled.removeAll(options.paths);
        }
        for (final CompletionPath path : unhandled) {
            faults.add("the " + HandlerOptions.label(path) + " path has no handler: set one, or discard the path");
        }
        if (description.handlers.isEmpty() && unhandled.isEmpty()) {
            faults.add("all paths are discarded: set a handler for one at least");
        }
    }

    private void checkHandler(final HandlerOptions options, final Set<String> names, final Set<WaitStrategy> strategies) {
        final String subject = "handler " + options.roleName;
        if (options.handler == null) {
            faults.add(subject + " is null");
        }
        if (options.paths.isEmpty()) {
            faults.add(subject + " has no path");
        }
        if (names.contains(options.roleName)) {
            faults.add("two handlers are named " + options.roleName + ": use unique names");
        }
        if (description.runsToCompletion) {
            checkRunsToCompletion(options, subject);
        } else {
            checkHasThread(options, subject, names, strategies);
        }
        if (options.failurePolicy == null) {
            faults.add(subject + " has no failure policy");
        }
    }

    private void checkRunsToCompletion(final HandlerOptions options, final String subject) {
        if (options.predecessor != HandlerOptions.NONE || !options.after.isEmpty()) {
            refuse(subject, "follows another", "handlers run there in the order of their description");
        }
        if (options.cpu != ThreadPlacement.ANY_CPU) {
            refuse(subject, "has a CPU", "set pollerCpu");
        }
        if (options.wait != null || options.waitStrategy != null) {
            refuse(subject, "has a wait", "set idleStrategy");
        }
        if (options.batchLimit != 0) {
            refuse(subject, "has a batch limit", "set the pipeline's batchLimit");
        }
        if (options.maxHeld != 0) {
            refuse(subject, "holds slots", "copy completions that outlive the call");
        }
    }

    private void refuse(final String subject, final String problem, final String instead) {
        faults.add(subject + " " + problem + ", but runs to completion on the poller's thread: " + instead);
    }

    private void checkHasThread(
        final HandlerOptions options, final String subject, final Set<String> names, final Set<WaitStrategy> strategies) {
        if (hasRing() && (options.batchLimit < 0 || options.batchLimit > description.ringSize)) {
            faults.add(subject + ": batch limit " + options.batchLimit + " is not from 1 to the ring size, " +
                description.ringSize);
        }
        if (hasRing() && (options.maxHeld < 0 || options.maxHeld > description.ringSize / 2)) {
            faults.add(subject + ": it must not hold " + options.maxHeld + " slots, only up to half of the ring, " +
                description.ringSize / 2);
        }
        for (final String name : options.after) {
            if (!names.contains(name)) {
                faults.add(subject + " follows " + name + ", but no handler of that name was added before");
            }
        }
        if (options.waitStrategy != null && !strategies.add(options.waitStrategy)) {
            faults.add(subject + " shares its wait strategy with another handler: use separate instances");
        }
        checkCpu(subject, options.cpu);
        checkSharedCpu(options, subject);
    }

    private void checkCpu(final String subject, final int cpu) {
        if (cpu < ThreadPlacement.ANY_CPU) {
            faults.add(subject + ": there is no CPU " + cpu);
        }
    }

    private void checkSharedCpu(final HandlerOptions options, final String subject) {
        final boolean handlerSpins = options.waitStrategy == null && options.wait == WaitMode.BUSY_SPIN;
        final boolean pollerSpins = PollerLoop.isSpinning(description.idleStrategy);
        if (handlerSpins && pollerSpins && options.cpu != ThreadPlacement.ANY_CPU &&
            options.cpu == description.pollerCpu) {
            faults.add(subject + " and the poller both spin on CPU " + description.pollerCpu +
                ": pin one elsewhere, or let one of them yield");
        }
    }
}
