package io.ringpoll.pipeline;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * Flight Recorder event: a pipeline started, halted or stopped.
 */
@Name("ringpoll.Pipeline")
@Label("Pipeline")
@Category("ringpoll")
@Description("A pipeline started, halted because a handler failed, or stopped")
@StackTrace(false)
final class PipelineEvent extends Event {
    @Label("Pipeline")
    String pipeline;

    @Label("State")
    String state;

    @Label("Detail")
    String detail;

    static void emit(final String pipeline, final String state, final String detail) {
        final PipelineEvent event = new PipelineEvent();
        if (event.isEnabled()) {
            event.pipeline = pipeline;
            event.state = state;
            event.detail = detail;
            event.commit();
        }
    }
}
