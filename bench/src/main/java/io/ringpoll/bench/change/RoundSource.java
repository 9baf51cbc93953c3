package io.ringpoll.bench.change;

/** Measures a round. */
@FunctionalInterface
public interface RoundSource {
    /**
     * Measures a round of the machine as it is.
     *
     * @return the round
     * @throws InterruptedException if the thread is interrupted
     */
    ChangeRound measure() throws InterruptedException;
}
