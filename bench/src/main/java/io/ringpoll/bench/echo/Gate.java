package io.ringpoll.bench.echo;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** Lets the threads of a contestant sleep while others are measured. Thread-safe. */
final class Gate {
    private final Set<Thread> waiting = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    boolean isClosed() {
        return closed;
    }

    void close() {
        closed = true;
    }

    void open() {
        closed = false;
        waiting.forEach(LockSupport::unpark);
    }

    /** Sleeps while the gate is closed. */
    void pass() {
        if (!closed) {
            return;
        }
        final Thread self = Thread.currentThread();
        waiting.add(self);
        while (closed) {
            LockSupport.park(this);
        }
        waiting.remove(self);
    }
}
