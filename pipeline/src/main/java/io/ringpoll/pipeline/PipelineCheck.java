package io.ringpoll.pipeline;

import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.internal.pipeline.SetHandler;
import io.ringpoll.internal.poller.PollerLoop;
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
    private final PinnedThreads threads;
    private final List<String> faults = new ArrayList<>();

    PipelineCheck(final PipelineBuilder description, final PinnedThreads threads) {
        this.description = description;
        this.threads = threads;
    }

    List<String> faults() {
        checkName(description.name, "name");
        checkName(description.defaults().pollerName(), "poller's name");
        checkSet(description.pinning, "pinning");
        checkSet(description.failureListener, "failure listener");
        checkSet(description.undelivered, "consumer of undelivered completions");
        checkSizes();
        checkPaths();
        final Set<String> names = new HashSet<>();
        final Set<WaitStrategy> strategies = Collections.newSetFromMap(new IdentityHashMap<>());
        for (final HandlerConfig handler : threads.handlers()) {
            checkHandler(handler, names, strategies);
            names.add(handler.roleName());
        }
        if (names.contains(description.defaults().pollerName())) {
            faults.add("the poller and a handler are both named " + description.defaults().pollerName());
        }
        checkQueues();
        checkOwner();
        return faults;
    }

    private void checkSet(final Object value, final String name) {
        if (value == null) {
            faults.add("the " + name + " is null");
        }
    }

    private void checkName(final String name, final String subject) {
        checkSet(name, subject);
        if (name != null && (name.isBlank() || name.chars().anyMatch(Character::isISOControl))) {
            faults.add("the " + subject + (name.isBlank() ? " is empty" : " contains a control character"));
        }
    }

    private void checkQueues() {
        final Set<CompletionQueue> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        for (final PipelineBuilder.DescribedQueue described : description.queues) {
            final CompletionQueue queue = described.queue();
            if (queue == null) {
                faults.add("a completion queue is null");
            } else if (!seen.add(queue)) {
                faults.add(queue.name() + " was added twice");
            }
        }
    }

    /** A set of connections handles the completions of its own queues, and would get others of a user. */
    private void checkOwner() {
        final List<HandlerConfig> all = threads.handlers();
        for (final HandlerConfig handler : all) {
            if (handler.handler() instanceof final SetHandler only && all.size() + description.queues.size() > 1) {
                faults.add("pipeline " + description.name + " is that of connection set " + only.setName() +
                    ", which adds the handler and the queues: describe it without any, and each by a builder of its own");
                return;
            }
        }
    }

    private void checkSizes() {
        final int ringSize = description.ringSize;
        if (ringSize < 2 || ringSize > CompletionSlab.MAX_CAPACITY || Integer.bitCount(ringSize) != 1) {
            faults.add("ring size " + ringSize + " is not a power of two from 2 to " + CompletionSlab.MAX_CAPACITY);
        }
        // The limits derive from the ring size: without a ring, their faults would be consequences of the first.
        if (hasRing() && (description.defaults().batchLimit() < 1 || description.defaults().batchLimit() > ringSize)) {
            faults.add("batch limit " + description.defaults().batchLimit() + " is not from 1 to the ring size, " + ringSize);
        }
        if (description.countersManager != null && description.countersFile) {
            faults.add("there are a counters folder and a counters manager: set one of them");
        }
        checkTimeout("startTimeoutNs", description.startTimeoutNs);
        checkTimeout("shutdownTimeoutNs", description.shutdownTimeoutNs);
        checkCpu("the poller", threads.pollerCpu());
        if (description.asAgent && description.pollerCpu != Pinning.ANY_CPU) {
            faults.add("the poller has a CPU, but is an agent: pin the thread that invokes it");
        }
    }

    private void checkTimeout(final String option, final long timeoutNs) {
        if (timeoutNs < 0) {
            faults.add(option + " " + timeoutNs + " is negative");
        }
    }

    private boolean hasRing() {
        return description.ringSize >= 2;
    }

    private void checkPaths() {
        final Set<CompletionPath> unhandled = EnumSet.allOf(CompletionPath.class);
        unhandled.removeAll(description.discarded);
        for (final HandlerConfig handler : threads.handlers()) {
            unhandled.removeAll(handler.paths());
        }
        for (final CompletionPath path : unhandled) {
            faults.add("the " + HandlerPaths.label(path) + " path has no handler: set one, or discard the path");
        }
        if (threads.handlers().isEmpty() && unhandled.isEmpty()) {
            faults.add("all paths are discarded: set a handler for one at least");
        }
    }

    private void checkHandler(final HandlerConfig handler, final Set<String> names, final Set<WaitStrategy> strategies) {
        final String subject = "handler " + handler.roleName();
        if (handler.handler() == null) {
            faults.add(subject + " is null");
        }
        if (handler.paths().isEmpty()) {
            faults.add(subject + " has no path");
        }
        if (names.contains(handler.roleName())) {
            faults.add("two handlers are named " + handler.roleName() + ": use unique names");
        }
        if (description.runsToCompletion) {
            checkRunsToCompletion(handler, subject);
        } else {
            checkHasThread(handler, subject, names, strategies);
        }
        checkTimeout(subject + ": idleTimeoutNs", handler.idleTimeoutNs());
        if (handler.idleTimeoutNs() > 0 && handler.waitStrategy() != null) {
            faults.add(subject + " has an idle time-out and a wait strategy of its own: set the time-out of that strategy");
        }
        if (handler.failurePolicy() == null) {
            faults.add(subject + " has no failure policy");
        }
    }

    private void checkRunsToCompletion(final HandlerConfig handler, final String subject) {
        if (!handler.after().isEmpty()) {
            refuse(subject, "follows another", "handlers run there in the order of their description");
        }
        if (handler.cpu() != Pinning.ANY_CPU) {
            refuse(subject, "has a CPU", "set pollerCpu");
        }
        if (handler.waitMode() != null || handler.waitStrategy() != null) {
            refuse(subject, "has a wait", "set idleStrategy");
        }
        if (handler.maxBatch() != 0) {
            refuse(subject, "has a maxBatch", "set the pipeline's batchLimit");
        }
        if (handler.maxHeld() != 0) {
            refuse(subject, "holds slots", "copy completions that outlive the call");
        }
    }

    private void refuse(final String subject, final String problem, final String instead) {
        faults.add(subject + " " + problem + ", but runs to completion on the poller's thread: " + instead);
    }

    private void checkHasThread(
        final HandlerConfig handler, final String subject, final Set<String> names, final Set<WaitStrategy> strategies) {
        if (hasRing() && (handler.maxBatch() < 0 || handler.maxBatch() > description.ringSize)) {
            faults.add(subject + ": maxBatch " + handler.maxBatch() + " is not from 1 to the ring size, " +
                description.ringSize);
        }
        if (hasRing() && (handler.maxHeld() < 0 || handler.maxHeld() > description.ringSize / 2)) {
            faults.add(subject + ": it must not hold " + handler.maxHeld() + " slots, only up to half of the ring, " +
                description.ringSize / 2);
        }
        for (final String name : handler.after()) {
            if (!names.contains(name)) {
                faults.add(subject + " follows " + name + ", but no handler of that name was added before");
            }
        }
        if (handler.waitStrategy() != null && !strategies.add(handler.waitStrategy())) {
            faults.add(subject + " shares its wait strategy with another handler: use separate instances");
        }
        checkCpu(subject, handler.cpu());
        checkSharedCpu(handler, subject);
    }

    private void checkCpu(final String subject, final int cpu) {
        if (cpu < Pinning.ANY_CPU) {
            faults.add(subject + ": there is no CPU " + cpu);
        }
    }

    private void checkSharedCpu(final HandlerConfig handler, final String subject) {
        final boolean handlerSpins = handler.waitStrategy() == null && handler.waitMode() == WaitMode.BUSY_SPIN;
        final boolean pollerSpins = PollerLoop.isSpinning(threads.idleStrategy());
        if (handlerSpins && pollerSpins && handler.cpu() != Pinning.ANY_CPU &&
            handler.cpu() == threads.pollerCpu()) {
            faults.add(subject + " and the poller both spin on CPU " + threads.pollerCpu() +
                ": pin one elsewhere, or let one of them yield");
        }
    }
}
