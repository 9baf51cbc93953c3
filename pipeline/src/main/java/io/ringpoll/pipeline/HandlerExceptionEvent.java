package io.ringpoll.pipeline;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/**
 * Flight Recorder event: a handler threw.
 */
@Name("ringpoll.HandlerException")
@Label("Handler exception")
@Category("ringpoll")
@Description("A completion handler threw; its failure policy was applied")
final class HandlerExceptionEvent extends Event {
    @Label("Handler")
    String handler;

    @Label("Exception")
    String exception;
}
