package io.ringpoll.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.testing.Allocation;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.VerbsPair;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Filling and posting a list allocates nothing. On the loopback device alone: it is a matter of Java, and of compiled code. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class VerbsAllocationTest {
    private static final int COUNT = 16;

    private final Completions completions = new Completions();

    @Test
    void shouldAllocateNothingForAChainOfWritesAndReceives() {
        try (VerbsPair pair = VerbsPair.of(attributes -> attributes.maxInlineBytes(64))) {
            final MemoryRegion memory = pair.memory(4096, VerbsPair.ALL);
            final SendList list = pair.closed(SendList.allocate(COUNT, 1));
            for (int i = 0; i < COUNT; i++) {
                list.writeWithImmediate(i, memory.remote(), SendFlag.INLINE);
                list.elements(i, memory);
            }
            final ReceiveList receives = pair.receives(COUNT, memory, 0);
            Allocation.assertNone(() -> {
                for (int i = 0; i < COUNT; i++) {
                    list.element(i, 0, i * 8, 8);
                    list.remoteOffset(i, 2048 + i * 8);
                    list.immediate(i, i);
                    list.workRequestId(i, i);
                    list.signaled(i, i == COUNT - 1);
                    receives.element(i, 0, 0, i);
                }
                if (pair.server().postReceive(receives) != COUNT || pair.client().postSend(list) != COUNT) {
                    throw new AssertionError("refused");
                }
                completions.await(pair.client().sendQueue(), 1);
                completions.await(pair.server().receiveQueue(), COUNT);
            });
            assertEquals(0, pair.client().sendQueue().budget().inFlight());
        }
    }
}
