package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.fault.FaultInjection;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcQueue;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.rc.RcUsage;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.CallFault;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.TransportType;
import io.ringpoll.testing.VerbsPair;
import io.ringpoll.verbs.AccessFlag;
import io.ringpoll.verbs.ProtectionDomain;
import io.ringpoll.verbs.RdmaDevices;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The bindings on a device of iWARP, and with calls that fail: only the loopback device can be made to. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ApiFaultsTest {
    private static final int TIMEOUT_MS = ConnectedPair.TIMEOUT_MS;
    private static final String ADDRESS = TestDevice.address();
    private static final RcConfig CONFIG = RcConfig.of(10, 10, 20);
    private static final int LENGTH = 64;
    private static final int IO_ERROR = 5;

    /** On iWARP, the peer's device writes what is read. */
    @ParameterizedTest
    @EnumSource
    void shouldLetThePeerWriteWhereReadsEndOnIwarpOnly(final RdmaApi api) {
        assumeTrue(TestDevice.isLoopback(), "the type of a real device cannot be changed");
        assertEquals(WcStatus.REM_ACCESS_ERR, statusOfAWriteToAReadDestination(api));
        final VerbsContext context;
        try (RcPeer peer = api.ofLocal(ADDRESS)) {
            context = peer.context();
        }
        TransportType.whileIwarp(context,
            () -> assertEquals(WcStatus.SUCCESS, statusOfAWriteToAReadDestination(api)));
    }

    private static int statusOfAWriteToAReadDestination(final RdmaApi api) {
        try (RcPeer peer = api.ofLocal(ADDRESS); RcListener listener = peer.listen(ADDRESS, 0);
            RcMemory source = peer.allocate(LENGTH, RcUsage.WRITE_SOURCE);
            // A descriptor needs a usage by the peer.
            RcMemory target = peer.allocate(LENGTH, RcUsage.READ_DESTINATION, RcUsage.READ_SOURCE);
            RcConnection client = peer.request(ADDRESS, listener.port(), CONFIG).connect();
            RcConnection server = listener.nextRequest(CONFIG, TIMEOUT_MS).orElseThrow().connect();
            RcRemoteMemory remote = peer.remote(target.descriptor())) {
            client.awaitEstablished(TIMEOUT_MS);
            server.awaitEstablished(TIMEOUT_MS);
            assertTrue(client.write(remote, 0, source, 0, LENGTH, true, 1));
            return new Completions().awaitOne(client.completionQueue()).status();
        }
    }

    @Test
    void shouldCloseTheRestOfAConnectionOfVerbsIfACallFails() {
        assumeTrue(TestDevice.isLoopback(), "calls of a real device cannot be made to fail");
        final List<String> failed = new ArrayList<>();
        for (int call = 1; failed.size() == call - 1; call++) {
            final RcPeer peer = RdmaApi.VERBS.ofLocal(ADDRESS);
            try (RcListener listener = peer.listen(ADDRESS, 0)) {
                final RcConnection connection = peer.request(ADDRESS, listener.port(), CONFIG).connect();
                CallFault.plan(call, IO_ERROR);
                try {
                    connection.close();
                } catch (final RdmaException reported) {
                    failed.add(CallFault.failed().orElseThrow());
                } finally {
                    CallFault.plan(0, 0);
                }
                // The id is the last one.
                assertThrows(IllegalStateException.class, () -> connection.nextEvent(0), failed::toString);
                connection.close();
            }
            try {
                peer.close();
            } catch (final RdmaException | IllegalStateException lost) {
                // An object that could not be destroyed may need its domain.
                assertFalse(failed.isEmpty());
            }
        }
        assertEquals(List.of("ibv_destroy_cq", "ibv_destroy_comp_channel", "rdma_destroy_id"), failed);
    }

    @Test
    void shouldNameTheFunctionThatRefusedAMemoryRegion() {
        assumeTrue(TestDevice.isLoopback(), "calls of a real device cannot be made to fail");
        try (ProtectionDomain domain = ProtectionDomain.create(RdmaDevices.ofLocal(VerbsPair.address()));
            FaultInjection injection = FaultInjection.apply(
                FaultPlan.parse("call:ibv_reg_mr:EIO@1,call:ibv_reg_mr_iova2:EIO@1"))) {
            assertEquals("ibv_reg_mr", assertThrows(
                VerbsException.class, () -> domain.allocate(LENGTH, AccessFlag.LOCAL_WRITE)).function());
            assertEquals("ibv_reg_mr_iova2", assertThrows(VerbsException.class,
                () -> domain.allocate(LENGTH, AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING)).function());
            assertEquals(2, injection.injected());
        }
    }

    @Test
    void shouldCloseTheChannelOfASharedQueueThatCannotBeDestroyed() {
        assumeTrue(TestDevice.isLoopback(), "calls of a real device cannot be made to fail");
        try (RcPeer peer = RdmaApi.VERBS.ofLocal(ADDRESS); RcQueue queue = peer.newQueue("shared", LENGTH).orElseThrow()) {
            CallFault.plan(1, IO_ERROR);
            try {
                assertEquals("ibv_destroy_cq", assertThrows(RdmaException.class, queue::close).function());
            } finally {
                CallFault.plan(0, 0);
            }
            assertTrue(queue.channel().isClosed());
        }
    }
}
