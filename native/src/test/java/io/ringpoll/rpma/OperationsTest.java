package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.verbs.WcOpcode;
import io.ringpoll.verbs.WorkCompletion;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What each kind of work request does, and how it completes. */
@Tag(TestDevice.TAG)
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class OperationsTest {
    private static final long ID = 0x8123_4567_89AB_CDEFL;

    private final Completions completions = new Completions();

    @Test
    void shouldWriteToTheOtherSidesMemory() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final LocalMemoryRegion source = pair.memory(64);
            final LocalMemoryRegion destination = pair.memory(64);
            source.memory().set(ValueLayout.JAVA_LONG, 8, 42);
            assertTrue(pair.client().write(pair.remote(destination), 16, source, 8, 8, CompletionFlag.ALWAYS, ID));
            final WorkCompletion completion = completions.awaitOne(pair.client().completionQueue());
            assertTrue(completion.isSuccess(), completion::toString);
            assertEquals(ID, completion.workRequestId());
            assertEquals(WcOpcode.RDMA_WRITE, completion.opcode());
            assertEquals(pair.client().queuePairNumber(), completion.queuePairNumber());
            assertEquals(42, destination.memory().get(ValueLayout.JAVA_LONG, 16));
        }
    }
}
