package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.poller.NotifyingQueue;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A queue in Java that verifies its calls: none while it is detached, and never two at a time.
 *
 * <pre>
 *   wr_id:   number of the queue 16 | index 48
 * </pre>
 */
final class ScriptedQueue extends TorturedQueue {
    private static final int CAPACITY = 1 << 17;
    private static final int NUMBER_SHIFT = 48;
    private static final long SLOW_POLL_NS = 50_000_000;
    private static final int MOST_SLOW_POLLS = 6;

    private final Violations violations;
    /** One in so many successful polls is slow, between its call and its stores; 0 for none. */
    private final int slowPolls;
    private final Ledger ledger;
    private final EventFd events;
    private final AtomicInteger supplied = new AtomicInteger();
    private final AtomicBoolean busy = new AtomicBoolean();
    private final AtomicBoolean armed = new AtomicBoolean();
    private final UnsafeBuffer records = new UnsafeBuffer(0L, 0);
    private final CompletionQueue queue;
    private volatile boolean attached;
    /** Owned by the polling thread, like the next fields. */
    private int given;
    private int polls;

    ScriptedQueue(final int number, final int slowPolls, final EventFd events, final Violations violations) {
        super(number);
        this.slowPolls = slowPolls;
        this.events = events;
        this.violations = violations;
        this.ledger = new Ledger(name(), CAPACITY, violations);
        this.queue = events == null ? new Silent() : new Notifying();
    }

    static int numberOf(final long workRequestId) {
        return (int) (workRequestId >>> NUMBER_SHIFT);
    }

    /** The queue that a pipeline polls. */
    private class Silent implements CompletionQueue {
        @Override
        public int poll(final WorkCompletions into, final int first, final int maxEntries) {
            return ScriptedQueue.this.poll(into, first, maxEntries);
        }

        @Override
        public String name() {
            return ScriptedQueue.this.name();
        }
    }

    /** The completion channel for an event-driven pipeline. */
    private final class Notifying extends Silent implements NotifyingQueue {
        @Override
        public int eventFd() {
            return events.fd();
        }

        @Override
        public void arm() {
            violations.expect(attached, name() + " was asked for an event while it belonged to no pipeline");
            armed.set(true);
        }

        @Override
        public int takeEvents() {
            violations.expect(attached, "the events of " + name() + " were taken while it belonged to no pipeline");
            return events.take() ? 1 : 0;
        }
    }

    private String name() {
        return "scripted queue " + number();
    }

    @Override
    CompletionQueue queue() {
        return queue;
    }

    @Override
    void attach() {
        attached = true;
    }

    @Override
    void detach() {
        attached = false;
        armed.set(false);
    }

    @Override
    void feed(final SplittableRandom random) {
        final int more = 1 + random.nextInt(random.nextInt(4) == 0 ? 4096 : 64);
        supplied.updateAndGet(before -> Math.min(CAPACITY, before + more));
        if (events != null && armed.getAndSet(false)) {
            events.signal();
        }
    }

    private int poll(final WorkCompletions into, final int first, final int maxEntries) {
        violations.expect(
            attached, name() + " was polled while it belonged to no pipeline, by " + Thread.currentThread().getName());
        if (!busy.compareAndSet(false, true)) {
            violations.add(name() + " was polled by two threads at the same time");
            return 0;
        }
        final int count = Math.min(maxEntries, supplied.get() - given);
        if (count > 0 && slowPolls > 0 && ++polls % slowPolls == 0 && polls < MOST_SLOW_POLLS * slowPolls) {
            LockSupport.parkNanos(SLOW_POLL_NS);
        }
        if (count > 0) {
            records.wrap(into.address(first, maxEntries), count * IbvWc.SIZE_BYTES);
            for (int i = 0; i < count; i++) {
                write(i * IbvWc.SIZE_BYTES, given + i);
                ledger.onAccepted();
            }
            given += count;
        }
        busy.set(false);
        return count;
    }

    private void write(final int offset, final int index) {
        final CompletionPath path = pathOf(index);
        records.setMemory(offset, IbvWc.SIZE_BYTES, (byte) 0);
        records.putLong(offset + IbvWc.WR_ID_OFFSET, (long) number() << NUMBER_SHIFT | index);
        records.putInt(offset + IbvWc.STATUS_OFFSET, path == CompletionPath.ERROR ? WcStatus.WR_FLUSH_ERR : WcStatus.SUCCESS);
        records.putInt(offset + IbvWc.OPCODE_OFFSET, path == CompletionPath.RECEIVE ? WcOpcode.RECV : WcOpcode.SEND);
    }

    private static CompletionPath pathOf(final int index) {
        return index % 16 == 15 ? CompletionPath.ERROR : index % 3 == 1 ? CompletionPath.RECEIVE : CompletionPath.SEND_WRITE;
    }

    @Override
    void onCompletion(final WorkCompletion completion, final CompletionPath path, final String where) {
        final int index = (int) completion.workRequestId();
        ledger.onEnded(index, path, where);
        violations.expect(path == pathOf(index), name() + ": work request " + index + " ended on " + path + " at " + where);
    }

    @Override
    void settle() {
        detach();
    }

    @Override
    long missing() {
        return ledger.open();
    }

    @Override
    long ended() {
        return ledger.ended();
    }

    @Override
    public void close() {
        detach();
    }
}
