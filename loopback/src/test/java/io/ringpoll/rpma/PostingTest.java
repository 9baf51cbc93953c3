package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Posts that are refused, and the checks before the call into C. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PostingTest {
    private static final int LENGTH = 256;
    private static final int QUEUE_SIZE = 8;
    /** More than a device makes of {@link #QUEUE_SIZE}. */
    private static final int CQ_SIZE = 1024;

    private final Completions completions = new Completions(CQ_SIZE);
    private ConnectedPair pair;
    private Connection client;
    private Connection server;
    private LocalMemoryRegion mine;
    private RemoteMemoryRegion remote;

    @BeforeEach
    void connect() {
        pair = ConnectedPair.of(config -> config.sqSize(QUEUE_SIZE).rqSize(QUEUE_SIZE).cqSize(CQ_SIZE));
        client = pair.client();
        server = pair.server();
        mine = pair.memory(LENGTH);
        remote = pair.remote(pair.memory(LENGTH));
    }

    @AfterEach
    void disconnect() {
        pair.close();
    }

    @Test
    void shouldRefuseASendWithoutAnExceptionWhenTheSendQueueIsFull() {
        // Sends stay in the queue for as long as the other side has no receive for them.
        final int accepted = postUntilRefused(() -> client.send(mine, 0, 8, CompletionFlag.ALWAYS, 1));
        assertTrue(accepted >= QUEUE_SIZE, () -> accepted + " were accepted");
        assertFalse(client.write(remote, 0, mine, 0, 8, CompletionFlag.ALWAYS, 1));
        assertFalse(client.read(mine, 0, remote, 0, 8, CompletionFlag.ALWAYS, 1));
        assertFalse(client.atomicWrite(remote, 0, 1, CompletionFlag.ALWAYS, 1));
        assertFalse(client.flush(remote, 0, 8, FlushType.VISIBILITY, CompletionFlag.ALWAYS, 1));
        for (int i = 0; i < accepted; i++) {
            final int id = i;
            postUntilAccepted(() -> server.receive(mine, 128, 8, id));
        }
        completions.await(server.completionQueue(), accepted);
        for (int i = 0; i < accepted; i++) {
            assertTrue(completions.at(i).isSuccess(), completions.at(i)::toString);
        }
        completions.await(client.completionQueue(), accepted);
        for (int i = 0; i < accepted; i++) {
            assertTrue(completions.at(i).isSuccess(), completions.at(i)::toString);
        }
        assertEquals(0, client.completionQueue().poll(completions.records(), 0, 1), "a refused post gave a completion");
    }

    @Test
    void shouldRefuseAReceiveWithoutAnExceptionWhenTheReceiveQueueIsFull() {
        final int accepted = postUntilRefused(() -> server.receive(null, 0, 0, 1));
        assertTrue(accepted >= QUEUE_SIZE, () -> accepted + " were accepted");
    }

    @Test
    void shouldRefuseAReceiveOfASharedQueueWithoutAnExceptionWhenItIsFull() {
        try (SharedReceiveQueueConfig config = SharedReceiveQueueConfig.create().rqSize(QUEUE_SIZE);
            SharedReceiveQueue queue = pair.peer().sharedReceiveQueue(config)) {
            final int accepted = postUntilRefused(() -> queue.receive(mine, 0, 8, 1));
            assertTrue(accepted >= QUEUE_SIZE, () -> accepted + " were accepted");
        }
    }

    @Test
    void shouldCheckOffsetsAndLengthsBeforeTheLibrarySeesThem() {
        final CompletionFlag flag = CompletionFlag.ALWAYS;
        assertThrows(IndexOutOfBoundsException.class, () -> client.write(remote, LENGTH - 7, mine, 0, 8, flag, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> client.write(remote, 0, mine, LENGTH - 7, 8, flag, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> client.write(remote, -8, mine, 0, 8, flag, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> client.write(remote, 0, mine, 0, -8, flag, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> client.write(remote, Long.MAX_VALUE, mine, 0, 8, flag, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> client.read(mine, 0, remote, 1, LENGTH, flag, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> client.read(mine, 1, remote, 0, LENGTH, flag, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> client.writeWithImmediate(remote, 1, mine, 0, LENGTH, flag, 1, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> client.atomicWrite(remote, LENGTH, 1, flag, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> client.flush(remote, 0, LENGTH + 1, FlushType.VISIBILITY, flag, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> client.send(mine, 1, LENGTH, flag, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> client.sendWithImmediate(mine, 1, LENGTH, flag, 1, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> server.receive(mine, LENGTH + 1, 0, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> mine.advise(LENGTH, 1, MemoryAdvice.PREFETCH, false));
        assertThrows(IllegalArgumentException.class, () -> client.send(null, 0, Posts.MAX_MESSAGE_BYTES + 1, flag, 1));
        assertEquals(0, client.completionQueue().poll(completions.records(), 0, 1), "something was posted");
    }

    @Test
    void shouldReportFunctionAndCodeOfARefusal() {
        final RpmaException unaligned =
            assertThrows(RpmaException.class, () -> client.atomicWrite(remote, 4, 1, CompletionFlag.ALWAYS, 1));
        assertEquals("rpma_atomic_write", unaligned.function());
        assertEquals(RpmaError.INVAL, unaligned.code());
        assertEquals("rpma_atomic_write failed: RPMA_E_INVAL (Invalid argument); its offset is to be a multiple of 8",
            unaligned.getMessage());
        final RpmaException half =
            assertThrows(RpmaException.class, () -> client.read(mine, 0, null, 0, 8, CompletionFlag.ALWAYS, 1));
        assertEquals("rpma_read", half.function());
        assertEquals(RpmaError.INVAL, half.code());
        assertEquals("rpma_read failed: RPMA_E_INVAL (Invalid argument); null in the place of a memory region is for requests " +
            "of 0 bytes, and on both sides", half.getMessage());
        assertThrows(RpmaException.class, () -> client.send(null, 0, 8, CompletionFlag.ALWAYS, 1));
    }

    private static int postUntilRefused(final BooleanSupplier post) {
        int accepted = 0;
        while (post.getAsBoolean()) {
            accepted++;
            assertTrue(accepted < CQ_SIZE, "the queue is never full");
        }
        assertFalse(post.getAsBoolean());
        return accepted;
    }

    private static void postUntilAccepted(final BooleanSupplier post) {
        final long startNs = System.nanoTime();
        while (!post.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(50), "the queue stays full");
            Thread.onSpinWait();
        }
    }
}
