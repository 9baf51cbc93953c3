package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.verbs.AccessFlag;
import io.ringpoll.verbs.MemoryRegion;
import io.ringpoll.verbs.ProtectionDomain;
import io.ringpoll.verbs.RdmaDevices;
import java.lang.foreign.ValueLayout;
import java.net.ConnectException;
import java.net.InetAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sets over verbs: beside sets over librpma, and with a protection domain of the user. */
@Timeout(60)
@Tag(TestDevice.TAG)
class VerbsSetTest {
    private static final long VALUE = 0x1122334455667788L;

    /** Records the ends of operations, too. */
    private static final class Operations extends Recorder {
        @Override
        public void onOperationCompleted(final MessageConnection connection, final long tag, final int status) {
            add("operation " + tag + ' ' + WcStatus.name(status));
        }
    }

    @Test
    void shouldExchangeMessagesWithASetOverLibrpma() throws Exception {
        for (final SetKind kind : SetKind.values()) {
            final SetKind other = kind == SetKind.RPMA ? SetKind.VERBS : SetKind.RPMA;
            final Recorder client = new Recorder();
            try (ConnectionSet server = SetPair.builder(kind).listener(MessageConnection::trySend).start();
                ConnectionSet clients = SetPair.builder(other).listener(client).start()) {
                final MessageConnection connection = clients.connect(TestDevice.address(), server.listen(0));
                call(connection, () -> connection.trySend(new UnsafeBuffer("hello".getBytes()), 0, 5));
                assertEquals("message hello", client.await("message"));
                connection.close();
                assertEquals("disconnected CLOSED", client.await("disconnected"));
            }
        }
    }

    @Test
    void shouldWriteAndReadMemoryOfItsDomain() throws Exception {
        final Operations client = new Operations();
        try (ProtectionDomain domain = domain();
            MemoryRegion local = domain.allocate(16, AccessFlag.LOCAL_WRITE);
            MemoryRegion target =
                domain.allocate(8, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ)) {
            try (SetPair pair = SetPair.of(
                builder -> builder.address(null).domain(domain).operationsInFlight(2), new Recorder(), client)) {
                final MessageConnection connection = pair.connect();
                local.memory().set(ValueLayout.JAVA_LONG, 0, VALUE);
                call(connection, () -> connection.tryWrite(target.remote(), 0, local, 0, 8, 5));
                assertEquals("operation 5 IBV_WC_SUCCESS", client.await("operation"));
                call(connection, () -> connection.tryRead(local, 8, target.remote(), 0, 8, 6));
                assertEquals("operation 6 IBV_WC_SUCCESS", client.await("operation"));
                assertEquals(VALUE, local.memory().get(ValueLayout.JAVA_LONG, 8));
                call(connection, () -> connection.tryWrite(target.remote(), 0, local, 0, 8, 7) &&
                    connection.tryWrite(target.remote(), 0, local, 0, 8, 8) &&
                    !connection.tryWrite(target.remote(), 0, local, 0, 8, 9));
            }
            assertFalse(domain.isClosed());
        }
    }

    @Test
    void shouldEndWithAFailedOperation() throws Exception {
        final Operations client = new Operations();
        try (ProtectionDomain domain = domain(); MemoryRegion local = domain.allocate(8);
            SetPair pair = SetPair.of(
                builder -> builder.address(null).domain(domain).operationsInFlight(2), new Recorder(), client)) {
            final MessageConnection connection = pair.connect();
            // Without the right to write.
            call(connection, () -> connection.tryWrite(local.remote(), 0, local, 0, 8, 5));
            assertEquals("operation 5 IBV_WC_REM_ACCESS_ERR", client.await("operation"));
            assertEquals("disconnected FAILED", client.await("disconnected"));
        }
    }

    @Test
    void shouldRefuseMemoryOfTheOtherBinding() throws Exception {
        try (ProtectionDomain domain = domain(); MemoryRegion local = domain.allocate(8);
            Peer peer = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion other = peer.allocate(8, MemoryUsage.WRITE_SOURCE, MemoryUsage.WRITE_DESTINATION,
                MemoryUsage.READ_SOURCE, MemoryUsage.READ_DESTINATION);
            RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(other.descriptor())) {
            try (SetPair pair = SetPair.of(builder -> builder.address(null).domain(domain).operationsInFlight(1),
                new Recorder(), new Recorder())) {
                final MessageConnection connection = pair.connect();
                call(connection, () -> isRefused(() -> connection.tryWrite(remote, 0, other, 0, 8, 1)) &&
                    isRefused(() -> connection.tryRead(other, 0, remote, 0, 8, 1)) && connection.isConnected());
            }
            try (SetPair pair = SetPair.of(builder -> builder.address(null).peer(peer).operationsInFlight(1),
                new Recorder(), new Recorder())) {
                final MessageConnection connection = pair.connect();
                call(connection, () -> isRefused(() -> connection.tryWrite(local.remote(), 0, local, 0, 8, 1)) &&
                    isRefused(() -> connection.tryRead(local, 0, local.remote(), 0, 8, 1)) && connection.isConnected());
            }
        }
    }

    private static boolean isRefused(final Supplier<Boolean> operation) {
        return assertThrows(IllegalStateException.class, operation::get).getMessage()
            .contains("use memory of the peer or domain that the set was given");
    }

    @Test
    void shouldRefuseAClosedPeerOrDomain() {
        final ConnectionSetBuilder ofPeer = SetPair.builder().address(null).listener(new Recorder());
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            ofPeer.peer(peer);
        }
        assertEquals("the peer is closed: set an open one",
            assertThrows(IllegalArgumentException.class, ofPeer::start).getMessage());
        final ConnectionSetBuilder ofDomain = SetPair.builder().address(null).listener(new Recorder());
        try (ProtectionDomain domain = domain()) {
            ofDomain.domain(domain);
        }
        assertEquals("the domain is closed: set an open one",
            assertThrows(IllegalArgumentException.class, ofDomain::start).getMessage());
    }

    @Test
    void shouldHaveADeviceOfOneBinding() {
        try (ProtectionDomain domain = domain(); Peer peer = Peer.ofLocal(TestDevice.address())) {
            final ConnectionSetBuilder both =
                SetPair.builder().address(null).peer(peer).domain(domain).listener(new Recorder());
            assertEquals("a peer is librpma's, and the connections are made over verbs: set a domain instead",
                assertThrows(IllegalArgumentException.class, both::start).getMessage());
            final ConnectionSetBuilder addressed = SetPair.builder().domain(domain).listener(new Recorder());
            assertEquals("a domain and an address are set: set one of them",
                assertThrows(IllegalArgumentException.class, addressed::start).getMessage());
        }
    }

    @Test
    void shouldNotConnectToAnUnknownHost() {
        for (final SetKind kind : SetKind.values()) {
            try (ConnectionSet set = SetPair.builder(kind).listener(new Recorder()).start()) {
                final ConnectException failed =
                    assertThrows(ConnectException.class, () -> set.connect("no such name.invalid", 1));
                assertTrue(failed.getMessage().contains("the name cannot be resolved: check it, or use an IP address"),
                    failed::getMessage);
                assertInstanceOf(RdmaException.class, failed.getCause());
                assertEquals(0, set.connections());
            }
        }
    }

    private static ProtectionDomain domain() {
        return ProtectionDomain.create(RdmaDevices.ofLocal(InetAddress.ofLiteral(TestDevice.address())));
    }

    private static void call(final MessageConnection connection, final Supplier<Boolean> task) throws Exception {
        final CompletableFuture<Boolean> done = new CompletableFuture<>();
        assertTrue(connection.execute(() -> {
            try {
                done.complete(task.get());
            } catch (final Throwable failure) {
                done.completeExceptionally(failure);
            }
        }));
        assertTrue(done.get(30, TimeUnit.SECONDS));
    }
}
