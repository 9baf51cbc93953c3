package io.ringpoll.poller;

/**
 * What changes from duty cycle to duty cycle, on cache lines of its own; polling thread only.
 */
abstract class CompletionPollerHotFields extends CompletionPollerPadding {
    long cycles;
    CompletionPoller.Outcome outcome = CompletionPoller.Outcome.EMPTY;
    boolean paused;
    /** Whether a queue of the round has failed in this duty cycle. */
    boolean failed;
    boolean emptyRoundAwaited;
}
