package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.RdmaException;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.synthetic.SyntheticSource;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory and receives of another peer, which has another protection domain: an error, whatever is posted. */
@Timeout(60)
class OtherPeerTest {
    private static final int LENGTH = 64;

    private final Completions completions = new Completions();

    /** Posts with memory of another peer on this side. */
    private enum Post {
        SEND {
            @Override
            boolean post(final ConnectedPair pair, final LocalMemoryRegion memory) {
                return pair.client().send(memory, 0, LENGTH, CompletionFlag.ALWAYS, 1);
            }
        },
        SEND_WITH_IMMEDIATE {
            @Override
            boolean post(final ConnectedPair pair, final LocalMemoryRegion memory) {
                return pair.client().sendWithImmediate(memory, 0, LENGTH, CompletionFlag.ALWAYS, 2, 1);
            }
        },
        WRITE {
            @Override
            boolean post(final ConnectedPair pair, final LocalMemoryRegion memory) {
                return pair.client().write(pair.remote(pair.memory(LENGTH)), 0, memory, 0, LENGTH, CompletionFlag.ALWAYS, 1);
            }
        },
        READ {
            @Override
            boolean post(final ConnectedPair pair, final LocalMemoryRegion memory) {
                return pair.client().read(memory, 0, pair.remote(pair.memory(LENGTH)), 0, LENGTH, CompletionFlag.ALWAYS, 1);
            }
        };

        abstract boolean post(ConnectedPair pair, LocalMemoryRegion memory);
    }

    private void assertStatus(final int expected, final CompletionQueue queue, final long workRequestId) {
        assertEquals(workRequestId, completions.awaitOne(queue).workRequestId());
        assertEquals(expected, completions.at(0).status());
    }

    @ParameterizedTest
    @EnumSource
    void shouldCompleteWithAnErrorIfItsMemoryIsOfAnotherPeer(final Post kind) {
        try (ConnectedPair pair = ConnectedPair.ofDefaults(); Peer other = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion memory = other.allocate(LENGTH, MemoryUsage.values())) {
            assertTrue(pair.server().receive(pair.memory(LENGTH), 0, LENGTH, 7));
            assertTrue(kind.post(pair, memory));
            assertStatus(WcStatus.LOC_PROT_ERR, pair.client().completionQueue(), 1);
        }
    }

    @Test
    void shouldCompleteAReceiveWithAnErrorIfItsMemoryIsOfAnotherPeer() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults(); Peer other = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion memory = other.allocate(LENGTH, MemoryUsage.values())) {
            assertTrue(pair.server().receive(memory, 0, LENGTH, 7));
            assertTrue(pair.client().send(pair.memory(LENGTH), 0, LENGTH, CompletionFlag.ALWAYS, 1));
            assertStatus(WcStatus.REM_OP_ERR, pair.client().completionQueue(), 1);
            assertStatus(WcStatus.LOC_PROT_ERR, pair.server().completionQueue(), 7);
        }
    }

    /** The keys that the other side may use are those of the peer of its connection. */
    @Test
    void shouldCompleteWithAnErrorIfTheRemoteMemoryIsOfAnotherPeer() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults(); Peer other = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion memory = other.allocate(LENGTH, MemoryUsage.values())) {
            assertTrue(pair.client().write(pair.remote(memory), 0, pair.memory(LENGTH), 0, LENGTH, CompletionFlag.ALWAYS, 1));
            assertStatus(WcStatus.REM_ACCESS_ERR, pair.client().completionQueue(), 1);
        }
    }

    /** Its receives have memory of its own peer, which cannot be closed before the connection. */
    @Test
    void shouldReceiveFromASharedQueueOfAnotherPeerOfTheSameDevice() {
        final Peer other = Peer.ofLocal(TestDevice.address());
        final SharedReceiveQueueConfig sizes = SharedReceiveQueueConfig.create().rqSize(4);
        final SharedReceiveQueue shared = other.sharedReceiveQueue(sizes);
        sizes.close();
        final CompletionQueue receives = shared.receiveCompletionQueue().orElseThrow();
        final LocalMemoryRegion memory = other.allocate(LENGTH, MemoryUsage.values());
        try (ConnectedPair pair = ConnectedPair.of(config -> { }, config -> config.sharedReceiveQueue(shared))) {
            assertTrue(shared.receive(memory, 0, LENGTH, 7));
            assertTrue(pair.client().send(pair.memory(LENGTH), 0, LENGTH, CompletionFlag.ALWAYS, 1));
            assertStatus(WcStatus.SUCCESS, pair.client().completionQueue(), 1);
            assertStatus(WcStatus.SUCCESS, receives, 7);
            assertThrows(IllegalStateException.class, shared::close);
            assertThrows(IllegalStateException.class, other::close);
            assertTrue(shared.receive(pair.memory(LENGTH), 0, LENGTH, 8));
            assertTrue(pair.client().send(pair.memory(LENGTH), 0, LENGTH, CompletionFlag.ALWAYS, 2));
            assertStatus(WcStatus.REM_OP_ERR, pair.client().completionQueue(), 2);
            assertStatus(WcStatus.LOC_PROT_ERR, receives, 8);
        }
        memory.close();
        shared.close();
        other.close();
    }

    @Test
    void shouldRefuseASharedQueueOfAnotherDevice() {
        try (SyntheticSource source = SyntheticSource.open(); Peer other = Peer.of(source.context());
            SharedReceiveQueueConfig sizes = SharedReceiveQueueConfig.create().rqSize(4);
            SharedReceiveQueue shared = other.sharedReceiveQueue(sizes);
            Peer peer = Peer.ofLocal(TestDevice.address());
            ConnectionConfig config = ConnectionConfig.create().sharedReceiveQueue(shared)) {
            final RdmaException refused = assertThrows(RdmaException.class,
                () -> peer.request(TestDevice.address(), ConnectedPair.anyPort(), config));
            assertFalse(refused.getMessage().isEmpty());
        }
    }
}
