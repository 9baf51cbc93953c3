package io.ringpoll.pipeline;

import io.ringpoll.completion.WorkCompletion;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.status.CountersManager;

/**
 * The configuration of a pipeline: immutable, validated, with all defaults filled in.
 *
 * <p>Created by {@link #conclude} on the thread that starts the pipeline.
 */
final class PipelineConfig {
    final String name;
    final String pollerName;
    /** CPU of the polling thread, or {@link Pinning#ANY_CPU}. */
    final int pollerCpu;
    /** Null for an agent without one. */
    final IdleStrategy idleStrategy;
    /** Duty cycles above it count as stalls; if negative, the clock is not read. */
    final long stallThresholdNs;
    final int ringSize;
    /** Maximum number of completions taken from one queue in one poll. */
    final int batchLimit;
    /** Whether rounds of any size poll each queue once. */
    final boolean plainRounds;
    final boolean runsToCompletion;
    /** Whether threads of the user run the poller. */
    final boolean asAgent;
    final List<HandlerConfig> handlers;
    final List<PipelineBuilder.DescribedQueue> queues;
    final long startTimeoutNs;
    /** Time-out of the close at JVM shutdown; 0 for no shutdown hook. */
    final long shutdownTimeoutNs;
    final boolean countersFile;
    /** Of the user; null for counters of the pipeline. */
    final CountersManager countersManager;
    /** Null for the default folder. */
    final Path countersFolder;
    final boolean jmx;
    final FailureListener failureListener;
    final Consumer<WorkCompletion> undelivered;
    /** Creates a thread from its task and its name. */
    final BiFunction<Runnable, String, Thread> threadFactory;
    /** Of the user, in addition to the error log. */
    final ErrorHandler errorHandler;

    private PipelineConfig(final PipelineBuilder description, final PinnedThreads threads) {
        name = description.name;
        pollerName = description.defaults().pollerName();
        pollerCpu = threads.pollerCpu();
        idleStrategy =
            threads.idleStrategy() != null || description.asAgent ? threads.idleStrategy() :
                description.defaults().waitMode().newIdleStrategy();
        stallThresholdNs = description.stallThresholdNs;
        ringSize = description.defaults().ringSize();
        batchLimit = description.defaults().batchLimit();
        plainRounds = description.plainRounds;
        runsToCompletion = description.runsToCompletion;
        asAgent = description.asAgent;
        handlers = List.copyOf(description.defaults().handlers(threads.handlers()));
        queues = List.copyOf(description.queues);
        startTimeoutNs = description.startTimeoutNs;
        shutdownTimeoutNs = description.shutdownTimeoutNs;
        countersFile = description.countersFile;
        countersFolder = description.countersFolder;
        countersManager = description.countersManager;
        jmx = description.jmx;
        failureListener = description.failureListener;
        undelivered = description.undelivered;
        threadFactory = description.threadFactory;
        errorHandler = description.errorHandler;
    }

    /**
     * Assigns CPUs, checks the description and fills in the defaults.
     *
     * @throws IllegalArgumentException with all errors of the description, one per line
     */
    static PipelineConfig conclude(final PipelineBuilder description) {
        final PinnedThreads threads = PinnedThreads.of(description);
        final List<String> faults = new PipelineCheck(description, threads).faults();
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(String.join("\n", faults));
        }
        return new PipelineConfig(description, threads);
    }
}
