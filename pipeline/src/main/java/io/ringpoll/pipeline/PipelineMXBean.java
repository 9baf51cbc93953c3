package io.ringpoll.pipeline;

import io.ringpoll.counters.Counter;
import java.util.List;

/**
 * A pipeline in JMX, registered with {@link PipelineBuilder#exportToJmx}: {@code io.ringpoll:type=Pipeline,name="NAME"}.
 *
 * <p>Any thread of the JMX agent; a call does not wait for the pipeline.
 */
public interface PipelineMXBean {
    /**
     * The state of the pipeline.
     *
     * @return as {@link Pipeline#state()}
     */
    PipelineState getState();

    /**
     * The counters, in the order of display.
     *
     * @return as {@link Pipeline#counters()}; times in nanoseconds
     */
    List<Counter> getCounters();

    /**
     * The distinct exceptions of handlers and queues.
     *
     * @return as {@link Pipeline#readErrors}
     */
    List<String> getErrors();

    /**
     * The counters as text, for Prometheus.
     *
     * @return OpenMetrics 1.0
     */
    String toOpenMetrics();
}
