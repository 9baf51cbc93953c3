package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.poller.CompletionPoller.Outcome;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random rounds of 1 to 300 queues and a model: queues join, leave and fail, the poller is paused, the ring fills, and with
 * handlers in place all of it happens during a round, too.
 */
@Timeout(120)
class RoundModelTest {
    private static final int SEQUENCES = 60;
    private static final int ROUNDS = 150;
    private static final int MOST_QUEUES = 300;
    private static final int BATCH_LIMIT = 4;
    private static final int INTERVAL = 64;
    private static final int SECOND_POLLS = 8;
    private static final int FAULT = -5;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(50);

    private Random random;
    private boolean inPlace;
    private boolean plainRounds;
    private PollerCounterSet counters;
    private CompletionPoller poller;
    /** In the round: neither removed nor failed in an earlier round. */
    private final List<ModelQueue> present = new ArrayList<>();
    private final Map<Integer, ModelQueue> byIndex = new HashMap<>();
    private int free;
    /** Whether a handler has ended the current round. */
    private boolean ended;
    private int round;
    private int completionsInRound;
    private int faultsInRound;
    private long polls;
    private long emptyPolls;
    private int added;
    /** The assertion that failed in a poll. */
    private AssertionError wrong;

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void shouldPollEachQueueOnceAndRecentQueuesMoreOftenAndNoneAfterItsEnd(final boolean handlersInPlace, final boolean plain) {
        for (int seed = 0; seed < SEQUENCES; seed++) {
            begin(seed, handlersInPlace, plain);
            try {
                for (round = 1; round <= ROUNDS; round++) {
                    change();
                    checkRound();
                }
            } catch (final AssertionError | RuntimeException failure) {
                throw new AssertionError("seed " + seed + ", round " + round + ", " + present.size() + " queues", failure);
            }
            poller.onClose();
            assertEquals(polls, counters.polls(), "polls");
            assertEquals(emptyPolls, counters.emptyPolls(), "empty polls");
        }
    }

    private void begin(final int seed, final boolean handlersInPlace, final boolean plain) {
        random = new Random(seed);
        inPlace = handlersInPlace;
        plainRounds = plain;
        counters = new PollerCounterSet(TestCounters.create(), "poller");
        final ModelRing ring = new ModelRing();
        poller = new CompletionPoller(
            "poller", ring, ring, BATCH_LIMIT, plain, counters, this::onPollThrew, SystemNanoClock.INSTANCE);
        present.clear();
        byIndex.clear();
        polls = 0;
        emptyPolls = 0;
        free = 1000;
        final int queues = 1 + random.nextInt(MOST_QUEUES);
        for (int i = 0; i < queues; i++) {
            add();
        }
    }

    private void onPollThrew(final Throwable thrown) {
        if (thrown instanceof final AssertionError assertion) {
            wrong = assertion;
        }
    }

    /** Changes between two rounds. */
    private void change() {
        if (poller.isPaused() && random.nextInt(3) == 0) {
            try {
                poller.resume(Deadline.after(TIMEOUT_NS));
            } catch (final TimeoutException late) {
                throw new AssertionError(late);
            }
        }
        while (random.nextInt(3) == 0) {
            act();
        }
        // Sometimes the ring remains full, or has room for a part of the round.
        free += random.nextInt(4) == 0 ? random.nextInt(2 * BATCH_LIMIT) : 100;
    }

    /** A change by the owner between two rounds, or by a handler on the polling thread. */
    private void act() {
        switch (random.nextInt(8)) {
            case 0, 1, 2 -> {
                if (present.size() < MOST_QUEUES) {
                    add();
                }
            }
            case 3, 4, 5 -> {
                if (present.size() > 1) {
                    remove(anyQueue());
                }
            }
            case 6 -> {
                if (random.nextInt(4) == 0 && !present.isEmpty()) {
                    anyQueue().report();
                }
            }
            default -> {
                if (random.nextInt(4) == 0) {
                    pause();
                }
            }
        }
    }

    private ModelQueue anyQueue() {
        return present.get(random.nextInt(present.size()));
    }

    private void add() {
        final ModelQueue queue = new ModelQueue("queue " + added++);
        present.add(queue);
        byIndex.put(poller.queues().add(queue), queue);
        queue.onPolled();
        ended = true;
    }

    private void remove(final ModelQueue queue) {
        present.remove(queue);
        try {
            poller.queues().remove(queue, TIMEOUT_NS);
        } catch (final TimeoutException late) {
            throw new AssertionError(late);
        }
        queue.isRemoved = true;
        ended = true;
    }

    private void pause() {
        try {
            poller.pause(Deadline.after(TIMEOUT_NS));
        } catch (final TimeoutException late) {
            throw new AssertionError(late);
        }
        ended = true;
    }

    private void checkRound() {
        final boolean wasPaused = poller.isPaused();
        final List<ModelQueue> before = List.copyOf(present);
        before.forEach(queue -> queue.pollsInRound = 0);
        ended = false;
        completionsInRound = 0;
        faultsInRound = 0;
        final int workCount = poller.doWork();
        if (wrong != null) {
            throw wrong;
        }
        assertEquals(completionsInRound + faultsInRound, workCount, "work count");
        present.removeIf(queue -> queue.faultsPublished == 1);
        assertEquals(present.size(), counters.queues.get(), "queues in the round");
        if (wasPaused) {
            assertEquals(Outcome.PAUSED, poller.outcome());
            assertTrue(before.stream().allMatch(queue -> queue.pollsInRound == 0), "polled while paused");
            return;
        }
        final boolean isFull = poller.outcome() == Outcome.RING_FULL;
        assertTrue(!isFull || free == 0, "the ring was not full");
        for (final ModelQueue queue : before) {
            assertTrue(queue.pollsInRound <= mostPolls(before.size()), () -> queue.name + ": " + queue.pollsInRound + " polls");
            if (!inPlace && !queue.isOver()) {
                // Each queue that was there at its last poll, or has joined since, once.
                final int others = queue.othersAtPoll + added - queue.addedAtPoll;
                assertTrue(polls - queue.polledAt <= others + secondPolls(others + 1),
                    () -> queue.name + " not polled for " + (polls - queue.polledAt) + " polls");
            }
        }
        if (!isFull && !ended) {
            assertTrue(allPolled(before), "a queue was not polled");
            assertEquals(workCount == 0 ? Outcome.EMPTY : Outcome.WORKED, poller.outcome());
        }
    }

    private static boolean allPolled(final List<ModelQueue> queues) {
        return queues.stream().allMatch(queue -> queue.pollsInRound > 0 || queue.faultsPublished == 1);
    }

    private int mostPolls(final int queues) {
        return plainRounds || queues <= INTERVAL ? 1 : 1 + (queues + INTERVAL - 1) / INTERVAL;
    }

    private int secondPolls(final int queues) {
        return SECOND_POLLS * (mostPolls(queues) - 1);
    }

    /** A queue with random completions and faults. */
    private final class ModelQueue implements CompletionQueue {
        private final String name;
        /** Of 100 polls. */
        private final int successes = new int[] {0, 0, 0, 1, 3, 60, 100}[random.nextInt(7)];
        private boolean isRemoved;
        private boolean isReported;
        private boolean hasFailed;
        private int faultsPublished;
        private int unpublished;
        private int pollsInRound;
        private boolean hasHadCompletions;
        /** Number of polls of all queues at the last poll of this one, or at its addition. */
        private long polledAt;
        private int othersAtPoll;
        private int addedAtPoll;

        private ModelQueue(final String name) {
            this.name = name;
        }

        private boolean isOver() {
            return isRemoved || isReported || hasFailed;
        }

        private void onPolled() {
            polledAt = polls;
            othersAtPoll = present.size() - 1;
            addedAtPoll = added;
        }

        private void report() {
            isReported = true;
            poller.queues().reportFault(this, FAULT);
        }

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            assertFalse(isRemoved, "polled after its removal");
            assertFalse(hasFailed || isReported, "polled after its fault");
            assertTrue(maxEntries >= 1 && maxEntries <= BATCH_LIMIT && maxEntries <= free, "room");
            if (++pollsInRound > 1) {
                assertTrue(hasHadCompletions, "polled again without recent completions");
            }
            polls++;
            onPolled();
            final int dice = random.nextInt(100);
            if (dice == 0 && random.nextInt(20) == 0) {
                hasFailed = true;
                polls--;
                if (random.nextBoolean()) {
                    throw new IllegalStateException("provoked");
                }
                return FAULT;
            }
            if (dice >= successes) {
                emptyPolls++;
                return 0;
            }
            unpublished = 1 + random.nextInt(maxEntries);
            hasHadCompletions = true;
            completionsInRound += unpublished;
            return unpublished;
        }

        @Override
        public String name() {
            return name;
        }
    }

    /** A ring with slots that the test releases. */
    private final class ModelRing implements SlotRing, RingHandlers {
        private final UnsafeBuffer slab = new UnsafeBuffer(ByteBuffer.allocateDirect(BATCH_LIMIT * IbvWc.SIZE_BYTES));
        private long lastPublished = -1;

        @Override
        public UnsafeBuffer slab() {
            return slab;
        }

        @Override
        public int claim(final int limit) {
            return Math.min(limit, free);
        }

        @Override
        public int claimedOffset() {
            return 0;
        }

        @Override
        public void publish(final int count, final int queueIndex) {
            final ModelQueue queue = byIndex.get(queueIndex);
            assertEquals(queue.unpublished, count, "published");
            queue.unpublished = 0;
            publish(count);
        }

        @Override
        public void publishFault(final int queueIndex) {
            final ModelQueue queue = byIndex.get(queueIndex);
            assertFalse(queue.isRemoved, "the fault of a removed queue is published");
            assertTrue(queue.hasFailed || queue.isReported, "no fault to publish");
            assertEquals(1, ++queue.faultsPublished, "faults of " + queue.name);
            faultsInRound++;
            publish(1);
        }

        private void publish(final int count) {
            free -= count;
            lastPublished += count;
            assertTrue(free >= 0, "more slots published than claimed");
            if (inPlace && random.nextInt(100) == 0) {
                act();
            }
        }

        @Override
        public long lastPublished() {
            return lastPublished;
        }

        @Override
        public boolean isPassed(final long sequence) {
            return true;
        }

        @Override
        public boolean isHalted() {
            return false;
        }

        @Override
        public boolean runInPlace() {
            return inPlace;
        }
    }
}
