package io.ringpoll.internal.poller;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * Flight Recorder event: a completion queue has failed and left the round.
 */
@Name("ringpoll.QueueFault")
@Label("Queue fault")
@Category("ringpoll")
@Description("A completion queue failed and left the round")
@StackTrace(false)
final class QueueFaultEvent extends Event {
    @Label("Queue")
    String queue;

    @Label("Code")
    int code;

    static void emit(final String queue, final int code) {
        final QueueFaultEvent event = new QueueFaultEvent();
        if (event.isEnabled()) {
            event.queue = queue;
            event.code = code;
            event.commit();
        }
    }
}
