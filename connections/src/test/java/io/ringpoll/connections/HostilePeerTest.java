package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.connections.WorkRequestId;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.TestDevice;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values of a peer end its own connection, never more. */
@Timeout(60)
@Tag(TestDevice.TAG)
class HostilePeerTest {
    private static final int WINDOW = 8;

    @Test
    void shouldRejectARequestWithoutAHello() {
        assertRejected(new byte[0]);
    }

    @Test
    void shouldRejectAHelloOfAnotherProtocol() {
        final byte[] hello = RawClient.HELLO.encode();
        hello[0]++;
        assertRejected(hello);
    }

    @Test
    void shouldRejectAHelloOfAnotherVersion() {
        final byte[] hello = RawClient.HELLO.encode();
        hello[4]++;
        assertRejected(hello);
    }

    @Test
    void shouldRejectAHelloWithoutAWindow() {
        assertRejected(new Hello(0, 256, new byte[0]).encode());
    }

    @Test
    void shouldRejectAHelloWithANegativeMaximumLength() {
        assertRejected(new Hello(8, -1, new byte[0]).encode());
    }

    @Test
    void shouldRejectAHelloThatClaimsMoreDataThanItHas() {
        final byte[] hello = RawClient.HELLO.encode();
        hello[5] = (byte) 255;
        assertRejected(hello);
    }

    @Test
    void shouldEndAConnectionThatSendsWithoutImmediateData() throws Exception {
        assertViolates(RawClient::sendWithoutImmediate, "without immediate data");
    }

    @Test
    void shouldEndAConnectionThatSendsAnUnknownKind() throws Exception {
        assertViolates(raw -> raw.send(0, 0x7F << 24), "immediate data 0x7f000000");
    }

    @Test
    void shouldEndAConnectionThatUsesReservedBits() throws Exception {
        assertViolates(raw -> raw.send(1, 0x10000), "immediate data 0x10000");
    }

    @Test
    void shouldEndAConnectionThatReturnsCreditsItDoesNotOwe() throws Exception {
        assertViolates(raw -> raw.send(1, 1), "1 credits returned, with 8 of 8 unused");
    }

    @Test
    void shouldEndAConnectionThatReturnsNoCredits() throws Exception {
        assertViolates(raw -> raw.send(0, Immediate.of(Immediate.CREDITS, 0)), "with 0 credits");
    }

    @Test
    void shouldEndAConnectionWithACreditMessageThatHasContent() throws Exception {
        assertViolates(raw -> raw.send(3, Immediate.of(Immediate.CREDITS, 1)), "a credit message of 3 bytes");
    }

    @Test
    void shouldEndAConnectionThatSendsAMessageOverTheAgreedMaximum() throws Exception {
        // The receive itself has room for it.
        assertViolates(raw -> raw.send(251, 0), "a message of 251 bytes");
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1})
    void shouldEndAConnectionWhoseMessageHasALengthWithTheSignBit(final int length) throws Exception {
        final CompletableFuture<MessageConnection> accepted = new CompletableFuture<>();
        final Recorder server = new Recorder() {
            @Override
            public void onConnected(final MessageConnection connection) {
                accepted.complete(connection);
            }
        };
        try (SetPair pair = SetPair.of(sizes -> { }, server, new Recorder())) {
            pair.connect();
            final MessageConnection connection = accepted.get();
            // No receive is that long: this is the record of a device that is out of order.
            final Completions record = new Completions(1);
            record.memory().putInt(IbvWc.STATUS_OFFSET, WcStatus.SUCCESS);
            record.memory().putInt(IbvWc.OPCODE_OFFSET, WcOpcode.RECV);
            record.memory().putInt(IbvWc.WC_FLAGS_OFFSET, WorkCompletion.FLAG_WITH_IMMEDIATE);
            record.memory().putLong(IbvWc.WR_ID_OFFSET, WorkRequestId.receive(0, 0));
            record.memory().putInt(IbvWc.BYTE_LEN_OFFSET, length);
            assertTrue(connection.execute(() -> connection.onCompletion(record.at(0))));
            assertEquals("disconnected PROTOCOL_VIOLATION", server.await("disconnected"));
            assertEquals("a message of " + Integer.toUnsignedString(length) + " bytes, over the maximum of 256",
                connection.disconnectDetail());
        }
        assertEquals(List.of("disconnected PROTOCOL_VIOLATION"), server.all);
    }

    @Test
    void shouldEndAConnectionThatSendsAMessageLongerThanTheReceive() throws Exception {
        assertViolates(raw -> raw.send(1000, 0), "work completion IBV_WC_LOC_");
    }

    @Test
    void shouldEndAConnectionThatSendsWithoutCredit() throws Exception {
        final Recorder server = new Retainer();
        assertViolates(server, raw -> {
            for (int i = 0; i <= WINDOW; i++) {
                raw.send(1, 0);
            }
        }, "without credit");
    }

    @Test
    void shouldHaveReceivesForAWindowAndAllCreditMessagesAndTheGoodbye() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch tested = new CountDownLatch(1);
        final ConnectionListener blocking = new ConnectionListener() {
            @Override
            public void onConnected(final MessageConnection connection) throws Exception {
                entered.countDown();
                assertTrue(tested.await(30, TimeUnit.SECONDS));
            }

            @Override
            public boolean onMessage(final MessageConnection connection, final DirectBuffer buffer, final int offset,
                final int length) {
                return true;
            }
        };
        try (ConnectionSet set = SetPair.builder().messagesInFlight(WINDOW).listener(blocking).start();
            RawClient raw = new RawClient(set.listen(0), RawClient.HELLO.encode())) {
            entered.await();
            try {
                // A send completes when it has found a receive: the listener has posted none again.
                final int sends = WINDOW + 4 + 1;
                for (int i = 0; i < sends; i++) {
                    raw.send(1, 0);
                }
                assertTrue(raw.awaitCompletions(sends, RawClient.TIMEOUT_MS));
                raw.send(1, 0);
                assertFalse(raw.awaitCompletions(1, 1_000));
            } finally {
                tested.countDown();
            }
        }
    }

    /** Keeps all messages, so that no credit is returned. */
    private static final class Retainer extends Recorder {
        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            connection.retain();
            return true;
        }
    }

    private static void assertRejected(final byte[] hello) {
        final Recorder server = new Recorder();
        try (ConnectionSet set = SetPair.builder().listener(server).start()) {
            final int port = set.listen(0);
            try (RawClient raw = new RawClient(port, hello)) {
                assertFalse(raw.isEstablished());
            }
            assertEquals(1, set.rejectedRequests());
            assertEquals(0, set.connections());
            assertTrue(server.all.isEmpty());
        }
    }

    private static void assertViolates(final Consumer<RawClient> action, final String detail) throws Exception {
        assertViolates(new Recorder(), action, detail);
    }

    private static void assertViolates(final Recorder server, final Consumer<RawClient> action, final String detail)
        throws Exception {
        final Recorder other = new Recorder();
        final StringBuilder details = new StringBuilder();
        final ConnectionListener listener = new ConnectionListener() {
            @Override
            public boolean onMessage(final MessageConnection connection, final DirectBuffer buffer, final int offset,
                final int length) throws Exception {
                return connection.peerData().length > 0 ? connection.trySend(buffer, offset, length) :
                    server.onMessage(connection, buffer, offset, length);
            }

            @Override
            public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) {
                details.append(connection.disconnectDetail());
                server.onDisconnected(connection, reason);
            }
        };
        try (ConnectionSet set = SetPair.builder().messagesInFlight(WINDOW).maxMessageBytes(250).listener(listener).start();
            ConnectionSet clients = SetPair.builder().privateData(new byte[]{1}).listener(other).start()) {
            final int port = set.listen(0);
            final MessageConnection good = clients.connect(TestDevice.address(), port);
            try (RawClient raw = new RawClient(port, RawClient.HELLO.encode())) {
                assertTrue(raw.isEstablished());
                action.accept(raw);
                assertEquals("disconnected PROTOCOL_VIOLATION", server.await("disconnected"));
                assertTrue(details.toString().contains(detail), details::toString);
            }
            final UnsafeBuffer message = new UnsafeBuffer("still here".getBytes());
            good.execute(() -> good.trySend(message, 0, message.capacity()));
            assertEquals("message still here", other.await("message"));
        }
    }
}
