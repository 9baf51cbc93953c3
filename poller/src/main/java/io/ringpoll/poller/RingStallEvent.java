package io.ringpoll.poller;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * In a flight recording: the ring was full for a time, and the poller stood still.
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
