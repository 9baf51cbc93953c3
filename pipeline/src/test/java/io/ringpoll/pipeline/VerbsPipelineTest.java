package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.VerbsPair;
import io.ringpoll.verbs.MemoryRegion;
import io.ringpoll.verbs.ReceiveList;
import io.ringpoll.verbs.SendList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A pipeline polls the completion queues of a queue pair without librpma: chains, receives, errors, and the budget. */
@Tag(TestDevice.TAG)
@Timeout(60)
class VerbsPipelineTest {
    private static final int CHAIN = 16;
    private static final int CHAINS = 500;

    @Test
    void shouldDeliverTheCompletionsOfChainsAndReleaseTheBudget() throws InterruptedException, TimeoutException {
        final AtomicInteger sent = new AtomicInteger();
        final AtomicInteger received = new AtomicInteger();
        final CountDownLatch flushed = new CountDownLatch(1);
        try (VerbsPair pair = VerbsPair.ofDefaults();
            Pipeline pipeline = Pipeline.builder()
                .onSendWrite((wc, sequence, endOfBatch) -> sent.incrementAndGet())
                .onReceive((wc, sequence, endOfBatch) -> received.incrementAndGet())
                .onError((wc, sequence, endOfBatch) -> {
                    assertEquals(WcStatus.WR_FLUSH_ERR, wc.status());
                    flushed.countDown();
                })
                .start()) {
            final MemoryRegion memory = pair.memory(4096, VerbsPair.ALL);
            final ReceiveList receives = pair.receives(CHAIN, memory, 0);
            final SendList chain = pair.closed(SendList.allocate(CHAIN, 1));
            for (int i = 0; i < CHAIN; i++) {
                chain.writeWithImmediate(i, memory.remote());
                chain.elements(i, memory);
                chain.element(i, 0, 0, 8);
                chain.remoteOffset(i, 64);
            }
            chain.signaled(CHAIN - 1, true);
            pipeline.addQueue(pair.client().sendQueue());
            pipeline.addQueue(pair.server().receiveQueue());
            for (int i = 0; i < CHAINS; i++) {
                for (int posted = 0; posted < CHAIN;) {
                    posted += pair.server().postReceive(receives, posted, CHAIN - posted);
                }
                for (int posted = 0; posted < CHAIN;) {
                    posted += pair.client().postSend(chain, posted, CHAIN - posted);
                    Thread.onSpinWait();
                }
            }
            while (sent.get() < CHAINS || received.get() < CHAIN * CHAINS) {
                Thread.onSpinWait();
            }
            assertEquals(CHAINS, sent.get());
            assertEquals(0, pair.client().sendQueue().budget().inFlight());
            assertEquals(1, pair.server().postReceive(receives, 0, 1));
            pair.serverId().disconnect();
            assertTrue(flushed.await(VerbsPair.TIMEOUT_MS, TimeUnit.MILLISECONDS));
            pipeline.removeQueue(pair.client().sendQueue());
            pipeline.removeQueue(pair.server().receiveQueue());
        }
    }
}
