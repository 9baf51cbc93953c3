package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.TestDevice;
import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The message of an earlier failure that nobody has reported: each call clears it, so that no exception includes it. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class EarlierMessageTest {
    private static final int LENGTH = 64;

    private LogCapture log;

    @BeforeEach
    void capture() {
        log = new LogCapture();
    }

    @AfterEach
    void release() {
        LogSink.takeErrorText();
        log.close();
    }

    /** Makes a call of librpma fail, and reports it to nobody. */
    private static void failUnreported() {
        Loading.require();
        try (Arena arena = Arena.ofConfined()) {
            final CallState state = CallState.current();
            assertEquals(RpmaError.INVAL,
                Librpma.MEMORY.rpma_mr_remote_from_descriptor(arena.allocate(1).address(), 1, state.scratch()));
        }
    }

    private static <T> T clears(final String what, final Supplier<T> call) {
        failUnreported();
        final T result = call.get();
        assertEquals("", LogSink.takeErrorText(), what);
        return result;
    }

    private static void clearsBy(final String what, final Runnable call) {
        clears(what, () -> {
            call.run();
            return null;
        });
    }

    @Test
    void shouldBeThereUntilItIsTaken() {
        failUnreported();
        assertTrue(LogSink.takeErrorText().contains("incorrect size of the descriptor"));
        assertEquals("", LogSink.takeErrorText());
        failUnreported();
        LogSink.clearError();
        assertEquals("", LogSink.takeErrorText());
    }

    @Test
    void shouldBeClearedByEachCallOfASetUp() {
        try (Peer device = Peer.ofLocal(TestDevice.address());
            Peer peer = clears("rpma_peer_new", () -> Peer.of(device.context()));
            SharedReceiveQueue queue = clears("rpma_srq_new", () -> peer.sharedReceiveQueue(null));
            LocalMemoryRegion region = clears("rpma_mr_reg", () -> peer.allocate(LENGTH, MemoryUsage.values()));
            RemoteMemoryRegion remote = clears("rpma_mr_remote_from_descriptor",
                () -> RemoteMemoryRegion.ofDescriptor(region.descriptor()));
            PeerConfig config = PeerConfig.create();
            PeerConfig same = clears("rpma_peer_cfg_from_descriptor", () -> PeerConfig.ofDescriptor(config.descriptor()))) {
            assertEquals(LENGTH, remote.lengthBytes());
            clears("rpma_utils_ibv_context_is_odp_capable", peer::isOdpCapable);
            if (TestDevice.isLoopback()) {
                clearsBy("rpma_mr_advise", () -> region.advise(0, LENGTH, MemoryAdvice.PREFETCH, false));
            }
            clearsBy("rpma_peer_cfg_delete", same::close);
            clearsBy("rpma_mr_remote_delete", remote::close);
            clearsBy("rpma_mr_dereg", region::close);
            clearsBy("rpma_srq_delete", queue::close);
            clearsBy("rpma_peer_delete", peer::close);
        }
    }

    @Test
    void shouldBeClearedByEachCallOfAConnection() {
        final String port = ConnectedPair.anyPort();
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), port)) {
            final ConnectionRequest request = peer.request(TestDevice.address(), port);
            final Connection client = clears("rpma_conn_req_connect", () -> request.connect());
            final ConnectionRequest accepted = clears("rpma_ep_next_conn_req",
                () -> endpoint.nextRequest(ConnectedPair.TIMEOUT_MS).orElseThrow());
            final Connection server = clears("rpma_conn_req_connect", () -> accepted.connect());
            assertEquals(ConnectionEvent.ESTABLISHED, clears("rpma_conn_next_event",
                () -> client.nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow()));
            assertEquals(ConnectionEvent.ESTABLISHED, server.nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
            assertFalse(clears("rpma_cq_wait", () -> client.completionQueue().await(0)));
            clearsBy("rpma_conn_disconnect", client::disconnect);
            clearsBy("rpma_conn_delete", client::close);
            clearsBy("rpma_conn_delete", server::close);
            clearsBy("rpma_ep_shutdown", endpoint::close);
        }
    }
}
