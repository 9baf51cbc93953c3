package io.ringpoll.internal.lifecycle;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A thread with a deep stack, to find out how much of it the JVM shows. */
final class StackProbe extends Thread {
    private static final long POLL_NS = TimeUnit.MICROSECONDS.toNanos(20);

    private final int depth;
    private volatile boolean deep;

    private StackProbe(final int depth) {
        super(null, null, "ringpoll stack probe", 0, false);
        this.depth = depth;
        setDaemon(true);
    }

    /** The number of frames that the JVM shows of a thread that has at least so many. */
    static int depthShown(final int depth) {
        final StackProbe probe = new StackProbe(depth);
        probe.start();
        final UninterruptiblePause pause = new UninterruptiblePause();
        try {
            while (!probe.deep && probe.isAlive()) {
                pause.parkNanos(POLL_NS);
            }
            return probe.getStackTrace().length;
        } finally {
            pause.end();
            probe.interrupt();
        }
    }

    @Override
    public void run() {
        descend(depth);
    }

    private void descend(final int frames) {
        if (frames > 0) {
            descend(frames - 1);
            return;
        }
        deep = true;
        while (!isInterrupted()) {
            LockSupport.park(this);
        }
    }
}
