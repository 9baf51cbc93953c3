package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.lifecycle.HotCalls;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.os.Errno;
import io.ringpoll.testing.CompiledCode;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Views of a connection's queue are opened, polled and closed by some threads, and the queue is polled by another, while the
 * connections and the peer are closed. A queue and its views have marks of their own for calls that are under way: a view keeps
 * the connection open, and a close waits for the calls of all marks.
 */
@Tag(TestDevice.TAG)
@Timeout(60)
class ViewCloseTest {
    private static final long DURATION_NS = TimeUnit.SECONDS.toNanos(TestDevice.isShort() ? 2 : 5);
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int VIEWERS = 3;
    private static final int POLLS = 2_000;
    private static final int MAX_REFUSALS = 200;
    private static final int MAX_DELAY_NS = 1_000_000;

    private final AtomicInteger opened = new AtomicInteger();
    private final AtomicInteger refusals = new AtomicInteger();
    private volatile RpmaCompletionQueue queue;
    /** The queue of the connection that was closed last. */
    private volatile RpmaCompletionQueue destroyed;
    /** A view that another thread has opened and may close. */
    private volatile VerbsCompletionQueue shown;
    private volatile boolean ended;

    /** A compiled loop has other safepoints than an interpreted one. In a guest that is emulated C2 would take too long. */
    @BeforeAll
    static void compileTheLoop() {
        if (!TestDevice.isShort()) {
            try (ConnectedPair pair = ConnectedPair.ofDefaults();
                VerbsCompletionQueue view = pair.client().completionQueue().openVerbs()) {
                final OtherThread<Integer> viewer = OtherThread.run(() -> pollUntilFailure(view));
                final OtherThread<Integer> poller = OtherThread.run(() -> pollUntilFailure(pair.client().completionQueue()));
                CompiledCode.awaitC2(ViewCloseTest.class, "poll");
                view.close();
                pair.client().close();
                assertTrue(viewer.result() < 0);
                assertEquals(RpmaError.INVAL, poller.result());
            }
        }
    }

    @Test
    void shouldCloseUnderViewsThatOtherThreadsOpenPollAndClose() {
        final int marks = HotCalls.registered();
        final Random random = new Random(11);
        queue = null;
        final List<OtherThread<Void>> threads = new ArrayList<>();
        for (int i = 0; i < VIEWERS; i++) {
            threads.add(OtherThread.run(this::view));
        }
        threads.add(OtherThread.run(this::pollQueue));
        final long endNs = System.nanoTime() + DURATION_NS;
        int rounds = 0;
        while (System.nanoTime() < endNs) {
            final ConnectedPair pair = ConnectedPair.ofDefaults();
            final RpmaCompletionQueue current = pair.client().completionQueue();
            queue = current;
            LockSupport.parkNanos(random.nextInt(MAX_DELAY_NS));
            refusals.set(0);
            // Half of the closes find views of which the threads open no more, half find threads that go on for a while.
            if (random.nextBoolean()) {
                queue = null;
            }
            final List<NativeResource> closing = new ArrayList<>(List.of(pair.client(), pair.server(), pair.peer()));
            Collections.shuffle(closing, random);
            while (!closing.isEmpty()) {
                closing.removeIf(this::isClosed);
                destroyed = closing.contains(pair.client()) ? destroyed : current;
                if (refusals.get() > MAX_REFUSALS) {
                    queue = null;
                }
                assertTrue(System.nanoTime() < endNs + BOUND_NS, () -> closing.getFirst().name() + " is still in use");
            }
            pair.close();
            rounds++;
        }
        ended = true;
        threads.forEach(OtherThread::result);
        assertTrue(rounds > 0 && opened.get() > 0, () -> opened + " views were opened");
        assertEquals(marks, HotCalls.registered());
    }

    /** Closes something; false if it is in use. */
    private boolean isClosed(final NativeResource resource) {
        try {
            resource.close();
            return true;
        } catch (final IllegalStateException inUse) {
            assertTrue(inUse.getMessage().contains(" cannot be closed before its dependents: "), inUse::getMessage);
            refusals.incrementAndGet();
            return false;
        }
    }

    private Void view() {
        final WorkCompletions records = WorkCompletions.allocate(4);
        while (!ended) {
            final RpmaCompletionQueue viewed = queue;
            if (viewed == null) {
                LockSupport.parkNanos(1);
                continue;
            }
            final VerbsCompletionQueue view;
            try {
                view = viewed.openVerbs();
            } catch (final IllegalStateException closed) {
                LockSupport.parkNanos(1);
                continue;
            }
            opened.incrementAndGet();
            shown = view;
            assertEquals(0, poll(view, records, POLLS));
            assertNotSame(viewed, destroyed, "the queue has been destroyed under its view");
            view.close();
            assertEquals(-Errno.EINVAL, view.poll(records, 0, 1));
        }
        return null;
    }

    private Void pollQueue() {
        final WorkCompletions records = WorkCompletions.allocate(4);
        while (!ended) {
            final RpmaCompletionQueue polled = queue;
            if (polled != null) {
                final int result = poll(polled, records, POLLS);
                assertTrue(result == 0 || result == RpmaError.INVAL, () -> "the poll gave " + result);
            }
            final VerbsCompletionQueue view = shown;
            if (view != null) {
                final int result = poll(view, records, POLLS);
                assertTrue(result == 0 || result == -Errno.EINVAL, () -> "the poll of a view gave " + result);
            }
        }
        return null;
    }

    private static int pollUntilFailure(final CompletionQueue polled) {
        final WorkCompletions records = WorkCompletions.allocate(4);
        int result = 0;
        while (result == 0) {
            result = poll(polled, records, POLLS);
        }
        return result;
    }

    /** The loop that C2 compiles; the first result other than 0. */
    private static int poll(final CompletionQueue polled, final WorkCompletions records, final int polls) {
        int result = 0;
        for (int i = 0; i < polls && result == 0; i++) {
            result = polled.poll(records, 0, 4);
        }
        return result;
    }
}
