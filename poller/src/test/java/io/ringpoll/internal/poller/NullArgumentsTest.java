package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.poller.NotifyingQueue;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.testing.NullArguments;
import java.util.function.UnaryOperator;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every public method of the poller names an argument that is null, in its own class. */
@Timeout(60)
class NullArgumentsTest {
    private final CountersManager manager = TestCounters.create();
    private final PollerCounterSet counters = new PollerCounterSet(manager, "poller");
    private final ArraySlots slots = new ArraySlots(64, 64);
    private final CompletionPoller poller = new CompletionPoller("poller", slots, 4, counters);
    private final ErrorHandler errors = error -> { };
    private final Runnable task = () -> { };

    @Test
    void shouldNameNullArguments() {
        assertEquals("", new NullArguments()
            .sample(poller).sample(poller.queues()).sample(counters).sample(manager)
            .sample(slots, SlotRing.class, RingHandlers.class).sample(new ScriptedQueue("queue"), CompletionQueue.class)
            .sample(new EventDrivenIdle()).sample(NoOpIdleStrategy.INSTANCE, IdleStrategy.class)
            .sample(errors, ErrorHandler.class).sample(SystemNanoClock.INSTANCE, NanoClock.class)
            .sample(new UnsafeBuffer(new byte[64])).sample(CounterType.POLLS)
            .sample(task, Runnable.class).sample(UnaryOperator.identity(), UnaryOperator.class)
            .meaningful(
                // The default.
                "PollerLoop.isSpinning(idleStrategy)", "QueueRegistry.add(attachment)",
                // Checked where there is a device.
                "NotifyingQueue.of(queue)", "NotifyingQueue.of(channel)")
            .check(CompletionPoller.class).check(NotifyingQueue.class).faults());
    }
}
