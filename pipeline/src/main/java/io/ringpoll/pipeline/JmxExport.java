package io.ringpoll.pipeline;

import io.ringpoll.counters.Counter;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.StandardMBean;

/**
 * Registers a pipeline in JMX, from its start to its end. The thread that starts the pipeline registers, the one that ends it
 * unregisters.
 */
final class JmxExport implements PipelineMXBean {
    private final Pipeline pipeline;
    /** Null unless registered; guarded by the lock of {@link PipelineStop}. */
    private ObjectName name;

    JmxExport(final Pipeline pipeline) {
        this.pipeline = pipeline;
    }

    @Override
    public PipelineState getState() {
        return pipeline.state();
    }

    @Override
    public List<Counter> getCounters() {
        return pipeline.counters().values();
    }

    @Override
    public List<String> getErrors() {
        final List<String> errors = new ArrayList<>();
        pipeline.readErrors(errors::add);
        return errors;
    }

    @Override
    public String toOpenMetrics() {
        return pipeline.counters().toOpenMetrics();
    }

    /** Registers the pipeline; another one of its name has a number. */
    void register() {
        final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        try {
            int number = 1;
            while (name == null) {
                final ObjectName candidate = new ObjectName("io.ringpoll:type=Pipeline,name=" +
                    ObjectName.quote(pipeline.name()) + (number == 1 ? "" : ",number=" + number));
                try {
                    server.registerMBean(new StandardMBean(this, PipelineMXBean.class, true), candidate);
                    name = candidate;
                } catch (final InstanceAlreadyExistsException taken) {
                    number++;
                }
            }
        } catch (final JMException refused) {
            throw new IllegalStateException("pipeline " + pipeline.name() + " cannot be registered in JMX: " +
                refused.getMessage(), refused);
        }
    }

    /** Unregisters the pipeline if it is registered. */
    void unregister() {
        if (name != null) {
            try {
                ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
            } catch (final InstanceNotFoundException gone) {
                // Another part of the program has unregistered it.
                name = null;
            } catch (final JMException refused) {
                throw new IllegalStateException("pipeline " + pipeline.name() + " cannot be unregistered from JMX: " +
                    refused.getMessage(), refused);
            }
            name = null;
        }
    }
}
