package io.ringpoll.bench.change;

import java.io.IOException;

/** A change of the machine that can be made and undone, for measurements on both sides of it. */
public interface Change {
    /**
     * Makes the change.
     *
     * @throws IOException          if it fails; a part of it may have been made
     * @throws InterruptedException if the thread is interrupted
     */
    void apply() throws IOException, InterruptedException;

    /**
     * Whether it can be undone.
     *
     * @return false if {@link #undo} must not be called
     */
    boolean canBeUndone();

    /**
     * Restores the state before the change.
     *
     * @throws IOException          if it fails
     * @throws InterruptedException if the thread is interrupted
     */
    void undo() throws IOException, InterruptedException;
}
