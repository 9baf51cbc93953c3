package io.ringpoll.pipeline;

import io.ringpoll.completion.WorkCompletion;

/**
 * Controls when the slots of a handler may be reused: before the end of its batch, or later.
 *
 * <p>Passed to {@link HandlerLifecycle#onStart}. A held slot keeps the provider's record until it is released by any thread; the
 * poller and later stages do not advance past it. {@link #releaseThrough} and {@link #hold} belong to the handler's thread, the
 * other methods to any.
 */
public interface SlotControl {
    /**
     * Releases slots before the end of the batch, for a handler that has copied their content and has long work to do.
     *
     * @param sequence of the current batch; slots up to it must not be read any more, unless they are held
     * @throws IllegalStateException if the sequence is not in the current batch, or on another thread than the handler's
     */
    void releaseThrough(long sequence);

    /**
     * Holds a slot until {@link #release}.
     *
     * @param sequence of the current batch, not yet released
     * @return true if the slot is held; false if {@link HandlerOptions#maxHeld} slots are already held
     * @throws IllegalStateException if the sequence is not in the current batch, the handler has ended, or on another thread than
     *     the handler's
     */
    boolean hold(long sequence);

    /**
     * Wraps a flyweight of the caller around a held slot.
     *
     * @param sequence  held and not released
     * @param flyweight of the calling thread
     * @return the flyweight; valid until the slot is released. What it shows later is undefined, but never freed memory
     * @throws IllegalStateException if the slot is not held
     */
    WorkCompletion view(long sequence, WorkCompletion flyweight);

    /**
     * Releases a held slot.
     *
     * @param sequence that was held
     * @throws IllegalStateException if the slot is not held, or has already been released
     */
    void release(long sequence);

    /**
     * Number of held slots.
     *
     * @return a snapshot
     */
    int held();
}
