package io.ringpoll.poller;

import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.IbvWc;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The duty cycle of the polling thread: in each round every completion queue is polled once, straight into claimed slots of the
 * ring, and what came is published.
 *
 * <p>All methods but the registry's belong to the thread that runs the agent. Nothing here allocates, blocks, logs or throws. A
 * full ring ends the round; the completions stay in their queues, and the next round begins with the queue that missed its turn.
 * A queue whose poll fails is taken out of the round and reported on the error path by a {@link QueueFault}.
 */
public final class CompletionPoller implements Agent {
    private final String roleName;
    private final SlotRing ring;
    private final UnsafeBuffer slab;
    private final long slabAddress;
    private final int batchLimit;
    private final QueueRegistry queues = new QueueRegistry();
    private final PollerCounters counters;

    /** Position in the round at which the next one begins. */
    private int first;

    /**
     * Creates a poller without queues.
     *
     * @param roleName   of the agent and its thread
     * @param ring       that takes the completions
     * @param batchLimit how many completions of one queue are taken in one round at most, at least 1
     * @param counters   of this poller alone
     */
    public CompletionPoller(
        final String roleName, final SlotRing ring, final int batchLimit, final PollerCounters counters) {
        if (batchLimit < 1) {
            throw new IllegalArgumentException("batch limit " + batchLimit + " is less than 1");
        }
        this.roleName = roleName;
        this.ring = ring;
        this.slab = ring.slab();
        this.slabAddress = slab.addressOffset();
        this.batchLimit = batchLimit;
        this.counters = counters;
    }

    /**
     * The queues of this poller, to which any thread may add.
     *
     * @return the registry, the same at each call
     */
    public QueueRegistry queues() {
        return queues;
    }

    @Override
    public void onStart() {
        queues.onStart();
    }

    /**
     * One round over the queues.
     *
     * @return number of completions and faults published; 0 if there was nothing to do, or no room for it
     */
    @Override
    public int doWork() {
        final PolledQueue[] round = queues.takeOver();
        final int length = round.length;
        int workCount = 0;
        int position = first < length ? first : 0;
        for (int i = 0; i < length; i++) {
            final int claimed = ring.claim(batchLimit);
            if (claimed == 0) {
                first = position;
                counters.ringFull.incrementRelease();
                return workCount;
            }
            workCount += poll(round[position], claimed);
            position = position + 1 == length ? 0 : position + 1;
        }
        return workCount;
    }

    @Override
    public void onClose() {
        queues.onClose();
    }

    @Override
    public String roleName() {
        return roleName;
    }

    private int poll(final PolledQueue polled, final int claimed) {
        if (polled.faultCode != 0) {
            return publishFault(polled);
        }
        final CompletionQueue queue = polled.queue;
        final int offset = ring.claimedOffset();
        final int count = queue.poll(slabAddress + offset, claimed);
        counters.polls.incrementRelease();
        if (count > 0) {
            mark(offset, count, (short) polled.index);
            ring.publish(count);
            counters.completions.getAndAddRelease(count);
            return count;
        }
        if (count == 0) {
            counters.emptyPolls.incrementRelease();
            return 0;
        }
        polled.faultCode = count;
        counters.queueFaults.incrementRelease();
        return publishFault(polled);
    }

    private void mark(final int offset, final int count, final short queueIndex) {
        final UnsafeBuffer slots = slab;
        final int end = offset + count * IbvWc.SIZE_BYTES;
        for (int slot = offset; slot < end; slot += IbvWc.SIZE_BYTES) {
            slots.putShort(slot + IbvWc.QUEUE_INDEX_OFFSET, queueIndex);
        }
    }

    private int publishFault(final PolledQueue polled) {
        if (polled.faultPublished) {
            return 0;
        }
        QueueFault.write(slab, ring.claimedOffset(), polled.index, polled.faultCode);
        ring.publish(1);
        polled.faultPublished = true;
        return 1;
    }
}
