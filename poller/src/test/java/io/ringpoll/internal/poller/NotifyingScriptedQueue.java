package io.ringpoll.internal.poller;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.poller.NotifyingQueue;
import io.ringpoll.poller.ScriptedQueue;

/** A scripted queue that raises events in a {@link Fifo}, which queues may share like a channel. */
final class NotifyingScriptedQueue implements NotifyingQueue {
    private final ScriptedQueue queue;
    private final Fifo channel;
    private volatile long calls;
    private volatile boolean armed;
    private volatile boolean fails;
    private volatile boolean loses;
    private volatile boolean failsAtArm;
    private volatile Runnable atPollAfterArm;

    NotifyingScriptedQueue(final String name, final Fifo channel) {
        this.queue = new ScriptedQueue(name);
        this.channel = channel;
    }

    /** Number of calls by the poller so far, of any kind. */
    long calls() {
        return calls;
    }

    boolean isArmed() {
        return armed;
    }

    int size() {
        return queue.size();
    }

    /** Adds a completion, and raises an event if the queue is armed. */
    void complete() {
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        raiseIfArmed();
    }

    /** Raises an event if the queue is armed. */
    void raiseIfArmed() {
        if (armed) {
            armed = false;
            channel.raise();
        }
    }

    /** Runs an action on the polling thread, once, in the first poll after the queue has been armed. */
    void atPollAfterArm(final Runnable action) {
        atPollAfterArm = action;
    }

    /** Makes the channel fail when events are read. */
    void failAtEvents() {
        fails = true;
    }

    /** Makes each request for an event fail. */
    void failAtArm() {
        failsAtArm = true;
    }

    /** Makes the queue find no event, as if another reader of the channel had taken it. */
    void loseEvents() {
        loses = true;
    }

    @Override
    public int poll(final WorkCompletions records, final int first, final int maxEntries) {
        calls = calls + 1;
        final Runnable action = atPollAfterArm;
        if (armed && action != null) {
            atPollAfterArm = null;
            action.run();
        }
        return queue.poll(records, first, maxEntries);
    }

    @Override
    public String name() {
        return queue.name();
    }

    @Override
    public int eventFd() {
        return channel.fd();
    }

    @Override
    public void arm() {
        calls = calls + 1;
        if (failsAtArm) {
            throw new IllegalStateException("provoked");
        }
        armed = true;
    }

    @Override
    public int takeEvents() {
        calls = calls + 1;
        if (fails) {
            throw new IllegalStateException("provoked");
        }
        final int taken = channel.take();
        return loses ? 0 : taken;
    }
}
