package io.ringpoll.verbs;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.VerbsPair;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** A list that two threads use at a time, by mistake. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PostListThreadsTest {
    @Test
    void shouldRefuseAPostDuringThatOfAnotherThread() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final SendList list = writes(pair, 16);
            final AtomicBoolean refused = new AtomicBoolean();
            final OtherThread<Void> other = OtherThread.run(() -> postUntilRefused(list, pair.server(), refused));
            postUntilRefused(list, pair.client(), refused);
            other.result();
            assertTrue(refused.get(), "posts of two threads at a time went unnoticed");
        }
    }

    /** A post that cuts the chain of another one loses requests. */
    private static Void postUntilRefused(final SendList list, final QueuePair queuePair, final AtomicBoolean refused) {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        final WorkCompletions records = WorkCompletions.allocate(64);
        while (!refused.get() && System.nanoTime() < deadlineNs) {
            try {
                queuePair.postSend(list);
                queuePair.sendQueue().poll(records, 0, 64);
            } catch (final IllegalStateException atATime) {
                assertTrue(atATime.getMessage().contains("one thread at a time may use a list"), atATime::getMessage);
                refused.set(true);
            }
        }
        return null;
    }

    @Test
    void shouldRefuseAChangeDuringThePostOfAnotherThread() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final MemoryRegion region = pair.memory(4096, VerbsPair.ALL);
            final SendList list = writes(pair, 16);
            list.fetchAndAdd(15, region.remote(), SendFlag.SIGNALED);
            list.element(15, 0, 0, Long.BYTES);
            final List<Executable> changes = List.of(() -> list.workRequestId(0, 1), () -> list.element(0, 0, 0, 8),
                () -> list.elements(0, region), () -> list.remoteOffset(0, 0), () -> list.immediate(0, 1),
                () -> list.signaled(0, true), () -> list.operands(15, 1, 0),
                () -> list.write(0, region.remote(), SendFlag.SIGNALED));
            for (final Executable change : changes) {
                final AtomicBoolean refused = new AtomicBoolean();
                final OtherThread<Void> other = OtherThread.run(() -> postUntilRefused(list, pair.client(), refused));
                untilRefused(change, refused);
                other.result();
                assertTrue(refused.get(), () -> "change " + changes.indexOf(change) + " during a post went unnoticed");
            }
        }
    }

    private static void untilRefused(final Executable change, final AtomicBoolean refused) {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (!refused.get() && System.nanoTime() < deadlineNs) {
            try {
                change.execute();
            } catch (final IllegalStateException atATime) {
                assertTrue(atATime.getMessage().contains("one thread at a time may use a list"), atATime::getMessage);
                refused.set(true);
            } catch (final Throwable other) {
                throw new AssertionError(other);
            }
        }
    }

    private static SendList writes(final VerbsPair pair, final int count) {
        final MemoryRegion memory = pair.memory(4096, VerbsPair.ALL);
        final SendList list = pair.closed(SendList.allocate(count, 1));
        for (int i = 0; i < count; i++) {
            list.write(i, memory.remote(), SendFlag.SIGNALED);
            list.elements(i, memory);
            list.element(i, 0, 0, 8);
        }
        return list;
    }
}
