package io.ringpoll.pipeline;

import io.ringpoll.verbs.WorkCompletion;

/**
 * By which a handler decides when slots of the ring may be reused: earlier than at the end of its batch, or later.
 *
 * <p>Given to the handler by {@link HandlerLifecycle#onStart}. A slot that is held back stays as the provider wrote it until it
 * is given back, by whatever thread then works with it; the poller and the stages after this handler stop short of it.
 * {@link #releaseThrough} and {@link #hold} belong to the handler's thread, the rest to any.
 */
public interface SlotControl {
    /**
     * Lets slots be reused before the batch ends, for a handler that has copied what it needs and has long work to do.
     *
     * @param sequence of the present batch; slots up to it must not be read any more, unless they are held
     * @throws IllegalStateException if it is no slot of the present batch
     */
    void releaseThrough(long sequence);

    /**
     * Holds a slot back until {@link #giveBack}.
     *
     * @param sequence of the present batch, not released yet
     * @return true if it is held now; false if as many as {@link HandlerOptions#maxHeld} are held already
     * @throws IllegalStateException if it is no slot of the present batch, or the handler has ended
     */
    boolean hold(long sequence);

    /**
     * Points a flyweight of the caller's own at a slot that is held.
     *
     * @param sequence  that was held and has not been given back
     * @param flyweight of the calling thread
     * @return the flyweight; valid until the slot is given back
     * @throws IllegalStateException if the slot is not held
     */
    WorkCompletion view(long sequence, WorkCompletion flyweight);

    /**
     * Gives a held slot back.
     *
     * @param sequence that was held
     * @throws IllegalStateException if the slot is not held, or no longer
     */
    void giveBack(long sequence);

    /**
     * How many slots are held.
     *
     * @return a moment's value
     */
    int held();
}
