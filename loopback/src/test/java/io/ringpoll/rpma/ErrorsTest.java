package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.DeviceAttributes;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.os.Errno;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.PollFault;
import io.ringpoll.testing.TestDevice;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Real errors of the real library: the content of exceptions, and the results that are no errors. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ErrorsTest {
    private static final int ENXIO = 6;
    private static final int EADDRINUSE = 98;
    private static final int TRIES = 50;
    private static final String NOT_OURS = "203.0.113.1";

    private LogCapture log;

    @BeforeEach
    void capture() {
        log = new LogCapture();
    }

    @AfterEach
    void release() {
        log.close();
    }

    /** The machine's own address is the loopback device's and no other's, which librpma answers with success and no device. */
    @Test
    void shouldOpenTheMachinesOwnAddressOnTheLoopbackDeviceAlone() {
        final String own = "127.0.0.1";
        if (TestDevice.isLoopback()) {
            Peer.ofLocal(own).close();
        } else {
            final IllegalStateException error = assertThrows(IllegalStateException.class, () -> Peer.ofLocal(own));
            assertTrue(error.getMessage().startsWith(own + " belongs to no RDMA device"), error::getMessage);
        }
    }

    @Test
    void shouldReportAnAddressWithoutADevice() {
        final RpmaException error = assertThrows(RpmaException.class, () -> Peer.ofLocal(NOT_OURS));
        assertEquals(RpmaError.PROVIDER, error.code());
        assertEquals("RPMA_E_PROVIDER", error.codeName());
        assertEquals("rpma_utils_get_ibv_context(" + NOT_OURS + ")", error.function());
        assertTrue(error.errno() != 0, error::getMessage);
        assertTrue(error.getMessage().startsWith("rpma_utils_get_ibv_context(" + NOT_OURS +
            ") failed: RPMA_E_PROVIDER (Provider error occurred), errno E"), error::getMessage);
        assertEquals(1, error.getMessage().lines().count());
    }

    @Test
    void shouldExplainAnAddressOfNoInterfaceOfThisMachine() {
        final RpmaException error = assertThrows(RpmaException.class, () -> Peer.ofLocal(NOT_OURS));
        // A kernel has other values of errno for it, too.
        if (TestDevice.isLoopback()) {
            assertTrue(error.getMessage().endsWith("; no network interface of this machine has the address"), error.getMessage());
        }
    }

    @Test
    void shouldReportAnUnknownName() {
        final RpmaException error = assertThrows(RpmaException.class, () -> Peer.ofLocal("no such name.invalid"));
        assertEquals(RpmaError.PROVIDER, error.code());
        assertTrue(error.getMessage().contains("no such name.invalid"), error::getMessage);
        assertTrue(error.getMessage().contains("Name or service not known"), error::getMessage);
        assertTrue(error.getMessage().endsWith("; the name cannot be resolved: check it, or use an IP address"),
            error::getMessage);
        if (TestDevice.isLoopback()) {
            assertEquals(ENXIO, error.errno(), error::getMessage);
        }
    }

    @Test
    void shouldRefuseAPortOutsideItsRange() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            for (final String port : List.of("65536", "-1", "+65536", "99999999999999999999")) {
                final String expected = "port '" + port + "' is not within 0 to 65535";
                assertEquals(expected, assertThrows(IllegalArgumentException.class,
                    () -> peer.listen(TestDevice.address(), port)).getMessage());
                assertEquals(expected, assertThrows(IllegalArgumentException.class,
                    () -> peer.request(TestDevice.address(), port)).getMessage());
            }
            peer.listen(TestDevice.address(), "0").close();
            peer.listen(TestDevice.address(), "65535").close();
        }
    }

    @Test
    void shouldRefuseToConnectToPortZero() {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); ConnectionConfig config = ConnectionConfig.create()) {
            for (final String port : List.of("0", "+0", "-0", "000")) {
                final String expected =
                    "port '" + port + "' cannot be connected to: use the port at which the other side listens";
                assertEquals(expected, assertThrows(IllegalArgumentException.class,
                    () -> peer.request(TestDevice.address(), port)).getMessage());
                assertEquals(expected, assertThrows(IllegalArgumentException.class,
                    () -> peer.request(TestDevice.address(), port, config)).getMessage());
            }
        }
    }

    @Test
    void shouldNameTheLimitOfDescriptors() {
        assertEquals("EMFILE (24): Too many open files; raise the process's limit: 'ulimit -n'", Errno.describe(Errno.EMFILE));
        assertTrue(Errno.describe(Errno.ENFILE).endsWith("'sysctl fs.file-max'"), () -> Errno.describe(Errno.ENFILE));
    }

    @Test
    void shouldReportAPortInUse() {
        final String port = ConnectedPair.anyPort();
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), port)) {
            assertTrue(endpoint.fd() >= 0);
            final RpmaException error = assertThrows(RpmaException.class, () -> peer.listen(TestDevice.address(), port));
            assertEquals("rpma_ep_listen(" + TestDevice.address() + ":" + port + ")", error.function());
            assertEquals(EADDRINUSE, error.errno(), error::getMessage);
        }
    }

    @Test
    void shouldReportAPortWithoutAListener() {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            Connection connection = peer.request(TestDevice.address(), ConnectedPair.anyPort()).connect()) {
            assertEquals(Optional.of(ConnectionEvent.REJECTED), connection.nextEvent(ConnectedPair.TIMEOUT_MS));
        }
    }

    @Test
    void shouldAnswerThatThereIsNoEventAndNoRequest() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults();
            Endpoint endpoint = pair.peer().listen(TestDevice.address(), ConnectedPair.anyPort())) {
            assertEquals(Optional.empty(), pair.client().nextEvent(0));
            assertEquals(Optional.empty(), pair.client().nextEvent(5));
            assertEquals(Optional.empty(), endpoint.nextRequest(0));
            assertEquals(Optional.empty(), endpoint.nextRequest(5));
        }
    }

    @Test
    void shouldReportWhyADescriptorIsInvalid() {
        final RpmaException tooShort = assertThrows(RpmaException.class, () -> RemoteMemoryRegion.ofDescriptor(new byte[4]));
        assertEquals(RpmaError.INVAL, tooShort.code());
        assertTrue(tooShort.getMessage().contains("incorrect size of the descriptor"), tooShort::getMessage);
        assertThrows(RpmaException.class, () -> RemoteMemoryRegion.ofDescriptor(new byte[64]), "a descriptor without a usage");
        assertThrows(RpmaException.class, () -> PeerConfig.ofDescriptor(new byte[0]));
    }

    @Test
    void shouldNameEveryCodeAndItsMeaning() {
        assertEquals("RPMA_E_NO_COMPLETION", RpmaError.name(RpmaError.NO_COMPLETION));
        assertEquals("No next completion available", RpmaError.meaning(RpmaError.NO_COMPLETION));
        assertEquals("code -1", RpmaError.name(-1));
        assertEquals("Unknown error", RpmaError.meaning(-1));
    }

    @Test
    void shouldKeepTheErrorsOfThreadsApart() {
        final String port = ConnectedPair.anyPort();
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), port)) {
            assertTrue(endpoint.fd() >= 0);
            final OtherThread<Void> other = OtherThread.run(() -> {
                for (int i = 0; i < TRIES; i++) {
                    final int errno = assertThrows(RpmaException.class, () -> Peer.ofLocal(NOT_OURS)).errno();
                    assertTrue(errno != 0 && errno != EADDRINUSE, () -> "errno " + errno);
                }
                return null;
            });
            for (int i = 0; i < TRIES; i++) {
                assertEquals(EADDRINUSE,
                    assertThrows(RpmaException.class, () -> peer.listen(TestDevice.address(), port)).errno());
            }
            other.result();
        }
    }

    @Test
    void shouldNotReportAFullQueueInTheExceptionOfAnotherCall() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RemoteMemoryRegion remote = pair.remote(pair.memory(64));
            boolean accepted = true;
            while (accepted) {
                accepted = pair.server().receive(null, 0, 0, 1);
            }
            final RpmaException notShared =
                assertThrows(RpmaException.class, () -> pair.server().awaitCompletions(0));
            assertEquals(RpmaError.NOT_SHARED_CHNL, notShared.code());
            assertSaysNothingForeign(notShared);
            // A device without atomic writes does it as a plain write, which may begin anywhere: docs/internals/devices.md.
            if (TestDevice.isLoopback()) {
                assertSaysNothingForeign(assertThrows(RpmaException.class,
                    () -> pair.client().atomicWrite(remote, 4, 1, CompletionFlag.ALWAYS, 1)));
            }
        }
    }

    @Test
    void shouldNotReportAFailedPollInTheExceptionOfAnotherCall() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final Completions completions = new Completions();
            PollFault.whileFailing(pair.peer().context(), () -> assertEquals(
                RpmaError.PROVIDER, pair.client().completionQueue().poll(completions.records(), 0, 1)));
            assertSaysNothingForeign(assertThrows(RpmaException.class, () -> pair.client().awaitCompletions(0)));
        }
    }

    private static void assertSaysNothingForeign(final RpmaException error) {
        assertEquals(0, error.errno(), error::getMessage);
        assertFalse(error.getMessage().contains("ibv_"), error::getMessage);
    }

    @Test
    void shouldNameTheStateThatASendNeeds() {
        final String port = ConnectedPair.anyPort();
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), port);
            Connection early = peer.request(TestDevice.address(), port).connect()) {
            assertTrue(endpoint.fd() >= 0);
            final String message = assertThrows(
                RpmaException.class, () -> early.send(null, 0, 0, CompletionFlag.ALWAYS, 1)).getMessage();
            assertTrue(message.endsWith(early.name() + " takes this only after ESTABLISHED: await it by nextEvent"), message);
        }
    }

    @Test
    void shouldNotNameThatStateOnceTheConnectionHasReachedIt() {
        assertFalse(Posts.isReasonUnknown(RpmaError.PROVIDER, 0), "the reason is in librpma's message");
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            assertEquals("", Posts.remedyForSend(pair.client(), "rpma_send", RpmaError.PROVIDER, Errno.EINVAL));
            pair.server().disconnect();
            assertEquals(ConnectionEvent.CLOSED, pair.client().nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
            assertEquals("", Posts.remedyForSend(pair.client(), "rpma_send", RpmaError.PROVIDER, Errno.EINVAL));
        }
    }

    @Test
    void shouldNameTheLimitOfTheDeviceThatAQueueExceeds() {
        final int tooMany = Integer.MAX_VALUE;
        final String port = ConnectedPair.anyPort();
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), port);
            ConnectionConfig ends = ConnectionConfig.create().cqSize(tooMany);
            SharedReceiveQueueConfig shared = SharedReceiveQueueConfig.create().rqSize(tooMany).rcqSize(tooMany)) {
            final DeviceAttributes limits = DeviceAttributes.of(peer.context()).orElseThrow();
            final String cq = "cqSize " + tooMany + " is above the limit of " + limits.name() + ": ask for at most " +
                limits.maxCqe();
            final String active = assertThrows(
                RpmaException.class, () -> peer.request(TestDevice.address(), port, ends)).getMessage();
            assertTrue(active.endsWith("; " + cq), active);
            try (Connection client = peer.request(TestDevice.address(), port).connect()) {
                final String passive = assertThrows(
                    RpmaException.class, () -> endpoint.nextRequest(ends, ConnectedPair.TIMEOUT_MS)).getMessage();
                assertTrue(passive.endsWith("; " + cq), passive + client.name());
            }
            final String srq = assertThrows(RpmaException.class, () -> peer.sharedReceiveQueue(shared)).getMessage();
            assertTrue(srq.contains("; rqSize " + tooMany + " is above the limit of " + limits.name() + ": ask for at most " +
                limits.maxSrqWr() + "; rcqSize "), srq);
            final String own = assertThrows(VerbsException.class,
                () -> VerbsCompletionQueue.create(peer.context(), "own", tooMany, null)).getMessage();
            assertTrue(own.endsWith("; own cannot hold " + tooMany + " completions: " + limits.name() + " allows 1 to " +
                limits.maxCqe()), own);
        }
    }

    @Test
    void shouldReportAMissingAddressOrPort() {
        assertMissing("the address is null", () -> Peer.ofLocal(null));
        assertMissing("the address is empty", () -> Peer.ofRemote(""));
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            assertMissing("the address is null", () -> peer.listen(null, "0"));
            assertMissing("the port is empty", () -> peer.listen(TestDevice.address(), ""));
            assertMissing("the port is null", () -> peer.request(TestDevice.address(), null));
        }
    }

    private static void assertMissing(final String expected, final Executable use) {
        assertEquals(expected, assertThrows(IllegalArgumentException.class, use).getMessage());
    }
}
