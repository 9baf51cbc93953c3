package io.ringpoll.verify.run;

import java.util.concurrent.locks.LockSupport;

/** Adds queues again that were removed after a failed poll; runs on its own thread, if faults are planned. */
final class QueueWatch implements Runnable {
    private static final long PAUSE_NS = 1_000_000;

    private final PolledQueues queues;
    private final Accounts accounts;
    private final Thread thread;
    private volatile boolean stopping;
    private volatile long putBack;

    QueueWatch(final PolledQueues queues, final Accounts accounts) {
        this.queues = queues;
        this.accounts = accounts;
        this.thread = MainJob.start(this, "ringpoll-queue-watch");
    }

    @Override
    public void run() {
        while (!stopping) {
            final String failed = accounts.takeFailedQueue();
            if (failed == null) {
                LockSupport.parkNanos(PAUSE_NS);
            } else {
                putBack(failed);
            }
        }
    }

    private void putBack(final String failed) {
        try {
            if (queues.putBack(failed)) {
                putBack++;
            }
        } catch (final IllegalStateException ending) {
            accounts.complain(failed + " is not polled again: " + ending.getMessage());
        }
    }

    /** The number of queues added again; any thread. */
    long putBack() {
        return putBack;
    }

    /** Ends the thread; the queues are closed. */
    void close() throws InterruptedException {
        stopping = true;
        thread.join();
    }
}
