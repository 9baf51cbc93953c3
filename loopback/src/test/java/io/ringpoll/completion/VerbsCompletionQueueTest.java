package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.os.Errno;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.PollFault;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** ibv_poll_cq through the device's function pointer, for librpma's queues and for others. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class VerbsCompletionQueueTest {
    private final Completions completions = new Completions();

    @Test
    void shouldPollTheQueueBelowOneOfTheLibrarys() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults();
            VerbsCompletionQueue queue = pair.client().completionQueue().openVerbs()) {
            assertEquals(0, queue.poll(completions.records(), 0, 4));
            post(pair, 3);
            completions.await(queue, 3);
            for (int i = 0; i < 3; i++) {
                assertEquals(i, completions.at(i).workRequestId());
                assertEquals(WcOpcode.RDMA_WRITE, completions.at(i).opcode());
            }
            assertEquals(0, pair.client().completionQueue().poll(completions.records(), 0, 4));
            assertTrue(queue.capacity() >= 10);
        }
    }

    @Test
    void shouldPollAQueueThatIsNotTheLibrarys() {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            VerbsCompletionQueue queue = VerbsCompletionQueue.create(peer.context(), "mine", 100, null)) {
            assertEquals("mine", queue.name());
            assertTrue(queue.capacity() >= 100);
            assertEquals(0, queue.poll(completions.records(), 0, 4));
        }
    }

    @Test
    void shouldGiveTheDevicesNegativeResults() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            PollFault.whileFailing(peer.context(), () -> {
                try (VerbsCompletionQueue queue = VerbsCompletionQueue.create(peer.context(), "failing", 4, null)) {
                    assertEquals(-1, queue.poll(completions.records(), 0, 4));
                }
            });
        }
    }

    @Test
    void shouldAnswerThatItIsClosed() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            final VerbsCompletionQueue queue = VerbsCompletionQueue.create(peer.context(), "closed", 4, null);
            queue.close();
            queue.close();
            assertEquals(-Errno.EINVAL, queue.poll(completions.records(), 0, 4));
            assertThrows(IllegalStateException.class, () -> queue.requestNotification(false));
            assertThrows(IllegalStateException.class, queue::capacity);
        }
    }

    @Test
    void shouldReportWhyAQueueCannotBeCreated() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            final VerbsException error = assertThrows(VerbsException.class,
                () -> VerbsCompletionQueue.create(peer.context(), "huge", Integer.MAX_VALUE, null));
            assertEquals("ibv_create_cq", error.function());
            assertTrue(error.errno() == Errno.EINVAL || error.errno() == Errno.ENOMEM, error::getMessage);
            // Its close waits for calls that are inside.
            try (CompletionChannel channel = CompletionChannel.create(peer.context())) {
                assertThrows(VerbsException.class,
                    () -> VerbsCompletionQueue.create(peer.context(), "huge", Integer.MAX_VALUE, channel));
            }
        }
    }

    private static void post(final ConnectedPair pair, final int count) {
        final LocalMemoryRegion memory = pair.memory(64);
        final RemoteMemoryRegion remote = pair.remote(memory);
        for (int i = 0; i < count; i++) {
            assertTrue(pair.client().write(remote, 32, memory, 0, 8, CompletionFlag.ALWAYS, i));
        }
    }
}
