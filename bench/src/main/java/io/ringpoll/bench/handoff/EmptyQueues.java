package io.ringpoll.bench.handoff;

import io.ringpoll.bench.baseline.CQueues;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.SharedReceiveQueue;
import io.ringpoll.rpma.SharedReceiveQueueConfig;
import io.ringpoll.synthetic.SyntheticSource;
import java.util.ArrayList;
import java.util.List;

/**
 * Empty completion queues for pollers with one busy queue and idle ones. ringpoll and C get the same number.
 *
 * <p>The queues are separate objects of librpma on one synthetic device without a program. Used by one thread, except that a
 * poller polls the queues.
 */
public final class EmptyQueues implements AutoCloseable {
    /** No queue. */
    public static final Pair NONE = new Pair(List.of(), null);

    private static final int ENTRIES = 16;

    private final SyntheticSource source = SyntheticSource.open();
    private final Peer peer = Peer.of(source.context());
    private final List<SharedReceiveQueue> owners = new ArrayList<>();
    private final List<CompletionQueue> queues = new ArrayList<>();
    private final CQueues inC;

    /**
     * The queues of a job.
     *
     * @param queues those of ringpoll
     * @param inC    the queues of C, as many; null if there are none
     */
    public record Pair(List<CompletionQueue> queues, CQueues inC) {
        /** Copies the list. */
        public Pair {
            queues = List.copyOf(queues);
        }
    }

    /**
     * Creates the queues.
     *
     * @param count number of queues, 0 or more
     */
    public EmptyQueues(final int count) {
        source.stop();
        CQueues opened = null;
        try (SharedReceiveQueueConfig config = SharedReceiveQueueConfig.create().rcqSize(ENTRIES)) {
            for (int i = 0; i < count; i++) {
                final SharedReceiveQueue owner = peer.sharedReceiveQueue(config);
                owners.add(owner);
                queues.add(owner.receiveCompletionQueue().orElseThrow());
            }
            opened = CQueues.open(source.context(), count);
        } finally {
            if (opened == null) {
                closeOwn();
            }
        }
        inC = opened;
    }

    /**
     * The queues, for a job.
     *
     * @return valid until this is closed
     */
    public Pair all() {
        return new Pair(queues, inC);
    }

    @Override
    public void close() {
        inC.close();
        closeOwn();
    }

    private void closeOwn() {
        owners.forEach(SharedReceiveQueue::close);
        peer.close();
        source.close();
    }
}
