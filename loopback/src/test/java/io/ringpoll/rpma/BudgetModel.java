package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.testing.Completions;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;

/**
 * A queue pair with random posts and completions, and its budget: the model counts the requests that must be in flight.
 *
 * <p>The kinds of posts vary by the seed, and some begin late: signalled and unsignalled sends, receives, singly and several at
 * once. After a failure all outstanding requests are flushed.
 */
final class BudgetModel {
    /** An outcome: a successful request of the send queue. */
    static final int SENT = WcOpcode.RDMA_WRITE;
    /** An outcome: a successful receive. */
    static final int RECEIVED = WcOpcode.RECV;
    /** An outcome: a failed request. Its opcode is not valid. */
    static final int FAILED = WcOpcode.RECV | WcOpcode.FETCH_ADD;

    private static final int BATCH = 8;
    /** Most requests that are reserved at once. */
    private static final int SERIES = 5;

    private final CompletionBudget budget;
    private final SplittableRandom random;
    private final Completions completions = new Completions(BATCH);
    private final int[] outcomes = new int[BATCH];
    /** Outstanding requests of the send queue: whether each is signalled. */
    private final Deque<Boolean> sends = new ArrayDeque<>();
    private final int firstUnsignalled;
    private final int firstReceive;
    private final int failure;
    private int receives;
    /** Unsignalled requests that have succeeded, but that no completion has retired. */
    private int silent;
    private int steps;
    /** Requests that succeeded silently just before the failure: they stay counted. */
    private int lost;

    BudgetModel(final int depth, final long seed) {
        budget = new CompletionBudget(depth);
        random = new SplittableRandom(seed);
        firstUnsignalled = random.nextBoolean() ? Integer.MAX_VALUE : random.nextInt(100);
        firstReceive = random.nextBoolean() ? Integer.MAX_VALUE : random.nextInt(100);
        failure = random.nextBoolean() ? Integer.MAX_VALUE : random.nextInt(300);
    }

    CompletionBudget budget() {
        return budget;
    }

    int inFlight() {
        return sends.size() + silent + receives + lost;
    }

    /** Posts a request, or polls a batch. */
    void step() {
        steps++;
        if (random.nextInt(3) > 0) {
            post();
        } else {
            poll(1 + random.nextInt(BATCH));
        }
    }

    private void post() {
        final int room = budget.depth() - inFlight();
        if (steps > firstReceive && random.nextBoolean()) {
            postReceives(room);
        } else {
            // One place is kept for the request that retires the unsignalled ones.
            final boolean signalled = steps <= firstUnsignalled || room <= 1 || random.nextBoolean();
            if (!signalled && random.nextBoolean()) {
                postUnsignalled(room);
            } else {
                assertEquals(room > 0, budget.reserveSend(signalled, random.nextBoolean()));
                if (room > 0) {
                    sends.add(signalled);
                }
            }
        }
    }

    private void postReceives(final int room) {
        if (random.nextBoolean()) {
            assertEquals(room > 0, budget.reserveReceive(random.nextBoolean()));
            receives += room > 0 ? 1 : 0;
        } else {
            final int number = 1 + random.nextInt(SERIES);
            assertEquals(Math.min(number, room), budget.reserveReceives(number, random.nextBoolean()));
            receives += Math.min(number, room);
        }
    }

    private void postUnsignalled(final int room) {
        // Now and then as many as there is room for, and more.
        final int most = random.nextInt(20) == 0 ? room + SERIES : room - 1;
        final int number = 1 + random.nextInt(Math.min(most, SERIES));
        assertEquals(Math.min(number, room), budget.reserveUnsignalled(number, random.nextBoolean()));
        for (int i = 0; i < Math.min(number, room); i++) {
            sends.add(false);
        }
    }

    private void poll(final int atMost) {
        int polled = 0;
        if (steps >= failure) {
            lost += silent;
            silent = 0;
            while (polled < atMost && sends.size() + receives > 0) {
                if (sends.poll() == null) {
                    receives--;
                }
                outcomes[polled++] = FAILED;
            }
        } else {
            while (polled < atMost && sends.size() + receives > 0) {
                if (receives > 0 && (sends.isEmpty() || random.nextBoolean())) {
                    receives--;
                    outcomes[polled++] = RECEIVED;
                } else if (sends.remove()) {
                    silent = 0;
                    outcomes[polled++] = SENT;
                } else {
                    silent++;
                }
            }
        }
        polled(budget, completions, polled, outcomes);
    }

    /** Polls completions with outcomes into records, and retires them. */
    static void polled(
        final CompletionBudget budget, final Completions completions, final int count, final int... outcomes) {
        for (int i = 0; i < count; i++) {
            final int record = i * IbvWc.SIZE_BYTES;
            completions.memory().putInt(
                record + IbvWc.STATUS_OFFSET, outcomes[i] == FAILED ? WcStatus.WR_FLUSH_ERR : WcStatus.SUCCESS);
            completions.memory().putInt(record + IbvWc.OPCODE_OFFSET, outcomes[i]);
        }
        budget.onPolled(completions.records(), 0, count);
    }
}
