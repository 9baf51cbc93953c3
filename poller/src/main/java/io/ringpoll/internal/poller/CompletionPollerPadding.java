package io.ringpoll.internal.poller;

/**
 * The cache line before {@link CompletionPollerHotFields}.
 */
abstract class CompletionPollerPadding {
    /** Fills the gap behind the object header, where the JVM would otherwise place a hot field. */
    int p08;
    long p00;
    long p01;
    long p02;
    long p03;
    long p04;
    long p05;
    long p06;
    long p07;
}
