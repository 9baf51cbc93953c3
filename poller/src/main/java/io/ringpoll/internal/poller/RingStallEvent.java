package io.ringpoll.internal.poller;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * Flight Recorder event: the ring was full and the poller could not publish.
 */
@Name("ringpoll.RingStall")
@Label("Ring full")
@Category("ringpoll")
@Description("The poller found no free slot because a handler was behind")
@StackTrace(false)
final class RingStallEvent extends Event {
    @Label("Slowest handler")
    String handler;
}
