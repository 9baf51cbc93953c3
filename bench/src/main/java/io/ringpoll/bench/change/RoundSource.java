package io.ringpoll.bench.change;

/** Measures one round of the figures that a change may affect. */
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
