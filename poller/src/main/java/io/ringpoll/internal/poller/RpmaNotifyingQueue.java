package io.ringpoll.internal.poller;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.CountedQueues;
import io.ringpoll.internal.verbs.PollTable;
import io.ringpoll.poller.NotifyingQueue;
import io.ringpoll.rpma.RpmaCompletionQueue;

/** A completion queue that librpma polls, with the completion events of the same queue in libibverbs. */
final class RpmaNotifyingQueue implements NotifyingQueue, CountedQueue {
    private final RpmaCompletionQueue polled;
    private final CountedQueue counted;
    private final NotifyingQueue events;

    RpmaNotifyingQueue(final RpmaCompletionQueue polled, final NotifyingQueue events) {
        this.polled = polled;
        this.counted = CountedQueues.of(polled);
        this.events = events;
    }

    @Override
    public int poll(final WorkCompletions records, final int first, final int maxEntries) {
        return polled.poll(records, first, maxEntries);
    }

    @Override
    public int pollUncounted(final long wcAddress, final int maxEntries) {
        return counted.pollUncounted(wcAddress, maxEntries);
    }

    @Override
    public int pollAndLease(final long wcAddress, final int maxEntries) {
        return counted.pollAndLease(wcAddress, maxEntries);
    }

    @Override
    public PollTable newTable() {
        return counted.newTable();
    }

    @Override
    public void moveTo(final PollTable table, final int place) {
        counted.moveTo(table, place);
    }

    @Override
    public void onHandOver() {
        counted.onHandOver();
    }

    @Override
    public boolean putTimestamps(final long recordsAddress, final long timestampsAddress) {
        return counted.putTimestamps(recordsAddress, timestampsAddress);
    }

    @Override
    public String name() {
        return polled.name();
    }

    @Override
    public Object underlying() {
        return polled.underlying();
    }

    @Override
    public boolean isClosed() {
        return polled.isClosed();
    }

    @Override
    public CompletionBudget budget() {
        return polled.budget();
    }

    @Override
    public boolean isSubjectOf(final AsyncEvent event) {
        return polled.isSubjectOf(event);
    }

    @Override
    public int eventFd() {
        return events.eventFd();
    }

    @Override
    public void arm() {
        events.arm();
    }

    @Override
    public int takeEvents() {
        return events.takeEvents();
    }
}
