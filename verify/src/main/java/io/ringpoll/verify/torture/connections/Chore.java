package io.ringpoll.verify.torture.connections;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Work for the polling thread of a connection that must be done once, if need be after the end of the set: by then any thread may
 * do it.
 */
final class Chore implements Runnable {
    private final Side side;
    private final Runnable work;
    private final AtomicBoolean done = new AtomicBoolean();
    private volatile boolean submitted;

    Chore(final Side side, final Runnable work) {
        this.side = side;
        this.work = work;
    }

    /** Passes it to the polling thread; false if that takes no more tasks now. */
    boolean submit() {
        submitted = submitted || side.execute(this);
        return submitted;
    }

    @Override
    public void run() {
        if (done.compareAndSet(false, true)) {
            try {
                work.run();
            } finally {
                side.onChoreDone();
            }
        }
    }
}
