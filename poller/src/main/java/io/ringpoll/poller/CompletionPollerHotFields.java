package io.ringpoll.poller;

/**
 * What changes from duty cycle to duty cycle, on cache lines of its own; polling thread only.
 */
abstract class CompletionPollerHotFields extends CompletionPollerPadding {
    long cycles;
    /** Its ordinal: a reference would have the garbage collector's barrier at each store, a fence among it. */
    int outcome = CompletionPoller.Outcome.EMPTY.ordinal();
    boolean paused;
    /** Whether a queue of the round has failed in this duty cycle. */
    boolean failed;
    boolean emptyRoundAwaited;
}
