package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcEvent;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.rc.RcUsage;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.os.Errno;
import io.ringpoll.rpma.RpmaError;
import io.ringpoll.rpma.RpmaException;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.verbs.PostException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Where the two bindings differ in the same situation: the list in docs/reference/verbs.md. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ApiDifferencesTest {
    private static final int TIMEOUT_MS = ConnectedPair.TIMEOUT_MS;
    private static final String ADDRESS = TestDevice.address();
    private static final RcConfig CONFIG = RcConfig.of(10, 10, 20);
    private static final int LENGTH = 64;

    @Test
    void shouldKeepAListenerOfLibrpmaOpenWhileARequestIs() {
        withRequest(RdmaApi.RPMA, (listener, request) -> {
            final IllegalStateException refused = assertThrows(IllegalStateException.class, listener::close);
            assertTrue(refused.getMessage().contains("cannot be closed before its dependents: request at"), refused.getMessage());
        });
    }

    @Test
    void shouldCloseAListenerOfVerbsWhileARequestIsOpen() {
        withRequest(RdmaApi.VERBS, (listener, request) -> {
            listener.close();
            request.connect().close();
        });
    }

    /** What is done with a request that is not answered yet. */
    private interface Step {
        void run(RcListener listener, RcRequest request);
    }

    private static void withRequest(final RdmaApi api, final Step step) {
        try (RcPeer peer = api.ofLocal(ADDRESS); RcListener listener = peer.listen(ADDRESS, 0);
            RcConnection client = peer.request(ADDRESS, listener.port(), CONFIG).connect();
            RcRequest request = listener.nextRequest(CONFIG, TIMEOUT_MS).orElseThrow()) {
            step.run(listener, request);
            assertTrue(client.queuePairNumber() != 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseADisconnectWithoutAConnectionByTheExceptionOfTheApi(final RdmaApi api) {
        try (RcPeer peer = api.ofLocal(ADDRESS)) {
            final int free;
            try (RcListener listener = peer.listen(ADDRESS, 0)) {
                free = listener.port();
            }
            try (RcConnection connection = peer.request(ADDRESS, free, CONFIG).connect()) {
                assertEquals(RcEvent.REJECTED, connection.firstEvent(TIMEOUT_MS));
                if (api == RdmaApi.VERBS) {
                    final Exception refused = assertThrows(IllegalStateException.class, connection::disconnect);
                    assertTrue(refused.getMessage().contains("is FAILED and cannot disconnect"), refused.getMessage());
                } else {
                    // librpma asks the connection manager, which has nothing against it.
                    connection.disconnect();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseAPostBeforeTheConnectionByTheExceptionOfTheApi(final RdmaApi api) {
        try (RcPeer peer = api.ofLocal(ADDRESS); RcListener listener = peer.listen(ADDRESS, 0);
            RcMemory memory = peer.allocate(LENGTH, RcUsage.SEND);
            RcConnection client = peer.request(ADDRESS, listener.port(), CONFIG).connect()) {
            final RdmaException refused =
                assertThrows(RdmaException.class, () -> client.send(memory, 0, LENGTH, true, 1));
            assertEquals(Errno.EINVAL, refused.errno());
            assertEquals(api == RdmaApi.RPMA ? RpmaException.class : PostException.class, refused.getClass());
            assertTrue(refused.getMessage().contains("ESTABLISHED"), refused.getMessage());
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldFlushTheLastBytesOfARegionOverVerbsOnly(final RdmaApi api) {
        try (RcPeer peer = api.ofLocal(ADDRESS); RcListener listener = peer.listen(ADDRESS, 0);
            RcMemory memory = peer.allocate(LENGTH, RcUsage.FLUSH_VISIBILITY);
            RcConnection client = peer.request(ADDRESS, listener.port(), CONFIG).connect();
            RcConnection server = listener.nextRequest(CONFIG, TIMEOUT_MS).orElseThrow().connect();
            RcRemoteMemory remote = peer.remote(memory.descriptor())) {
            client.awaitEstablished(TIMEOUT_MS);
            server.awaitEstablished(TIMEOUT_MS);
            assertTrue(client.flush(remote, LENGTH - 1, 1, true, 1));
            // librpma reads 8 bytes, however few are to be flushed.
            assertEquals(api == RdmaApi.RPMA ? WcStatus.REM_ACCESS_ERR : WcStatus.SUCCESS,
                new Completions().awaitOne(client.completionQueue()).status());
        }
    }

    @Test
    void shouldRefuseAWrongDescriptorByTheExceptionOfTheApi() {
        try (RcPeer rpma = RdmaApi.RPMA.ofLocal(ADDRESS); RcPeer verbs = RdmaApi.VERBS.ofLocal(ADDRESS);
            RcMemory ofRpma = rpma.allocate(LENGTH, RcUsage.READ_SOURCE);
            RcMemory ofVerbs = verbs.allocate(LENGTH, RcUsage.READ_SOURCE)) {
            final byte[] tooShort = Arrays.copyOf(ofVerbs.descriptor(), ofVerbs.descriptor().length - 1);
            final byte[] withoutUsage = ofRpma.descriptor();
            withoutUsage[withoutUsage.length - 1] = 0;
            for (final byte[] wrong : List.of(tooShort, withoutUsage)) {
                assertEquals(RpmaError.INVAL, assertThrows(RpmaException.class, () -> rpma.remote(wrong)).code());
                assertThrows(IllegalArgumentException.class, () -> verbs.remote(wrong));
            }
        }
    }

    /** The sides of a connection need not use the same API. */
    @ParameterizedTest
    @EnumSource
    void shouldReadMemoryThatTheOtherApiHasRegistered(final RdmaApi api) {
        final RdmaApi other = api == RdmaApi.RPMA ? RdmaApi.VERBS : RdmaApi.RPMA;
        try (RcPeer peer = api.ofLocal(ADDRESS); RcPeer others = other.ofLocal(ADDRESS);
            RcListener listener = others.listen(ADDRESS, 0);
            RcMemory source = others.allocate(LENGTH, RcUsage.READ_SOURCE);
            RcMemory target = peer.allocate(LENGTH, RcUsage.READ_DESTINATION);
            RcConnection client = peer.request(ADDRESS, listener.port(), CONFIG).connect();
            RcConnection server = listener.nextRequest(CONFIG, TIMEOUT_MS).orElseThrow().connect();
            RcRemoteMemory remote = peer.remote(source.descriptor())) {
            client.awaitEstablished(TIMEOUT_MS);
            server.awaitEstablished(TIMEOUT_MS);
            source.memory().fill((byte) 7);
            assertEquals(LENGTH, remote.lengthBytes());
            assertTrue(client.read(target, 0, remote, 0, LENGTH, true, 1));
            assertEquals(WcStatus.SUCCESS, new Completions().awaitOne(client.completionQueue()).status());
            assertEquals(-1, target.memory().mismatch(source.memory()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReportAnAddressInUseByTheExceptionOfTheApi(final RdmaApi api) {
        try (RcPeer peer = api.ofLocal(ADDRESS); RcListener listener = peer.listen(ADDRESS, 0)) {
            final RdmaException refused =
                assertThrows(RdmaException.class, () -> peer.listen(ADDRESS, listener.port()).close());
            assertEquals(Errno.EADDRINUSE, refused.errno());
            assertEquals(api == RdmaApi.RPMA ? RpmaException.class : VerbsException.class, refused.getClass());
        }
    }
}
