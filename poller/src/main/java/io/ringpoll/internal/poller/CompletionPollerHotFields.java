package io.ringpoll.internal.poller;

/**
 * The fields that change in each duty cycle, padded to cache lines of their own; polling thread only.
 */
abstract class CompletionPollerHotFields extends CompletionPollerPadding {
    long cycles;
    /** The ordinal: storing a reference would execute the garbage collector's barrier, including a fence. */
    int outcome = CompletionPoller.Outcome.EMPTY.ordinal();
    boolean paused;
    /** Whether a queue has failed in this duty cycle. */
    boolean failed;
    /** No gap in which the JVM would place a small field of the subclass. */
    boolean p10;
    boolean p11;
}
