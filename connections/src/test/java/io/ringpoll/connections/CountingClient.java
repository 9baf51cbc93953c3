package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;

/** Sends numbered messages of all lengths as fast as there is credit, and checks the answers. */
final class CountingClient implements ConnectionListener {
    private final int messages;
    private final int maxBytes;
    private final CompletableFuture<Boolean> done = new CompletableFuture<>();
    private final ExpandableArrayBuffer message = new ExpandableArrayBuffer();
    private int sent;
    private int received;

    CountingClient(final int messages, final int maxBytes) {
        this.messages = messages;
        this.maxBytes = maxBytes;
    }

    void await(final long time, final TimeUnit unit) throws Exception {
        try {
            done.get(time, unit);
        } catch (final TimeoutException late) {
            throw new AssertionError("sent " + sent + ", received " + received + " of " + messages, late);
        }
    }

    @Override
    public void onConnected(final MessageConnection connection) {
        send(connection);
    }

    @Override
    public void onDrained(final MessageConnection connection) {
        send(connection);
    }

    private void send(final MessageConnection connection) {
        while (sent < messages) {
            final int length = length(sent);
            for (int i = 0; i < length; i++) {
                message.putByte(i, (byte) (sent + i));
            }
            if (!connection.trySend(message, 0, length)) {
                return;
            }
            sent++;
        }
    }

    private int length(final int number) {
        return number % (maxBytes + 1);
    }

    @Override
    public boolean onMessage(
        final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
        try {
            assertEquals(length(received), length, "length of answer " + received);
            for (int i = 0; i < length; i++) {
                assertEquals((byte) (received + i), buffer.getByte(offset + i));
            }
            received++;
            assertTrue(received <= messages);
        } catch (final AssertionError wrong) {
            done.completeExceptionally(wrong);
        }
        if (received == messages) {
            done.complete(true);
        }
        return true;
    }

    @Override
    public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) {
        done.completeExceptionally(new AssertionError(reason + " " + connection.disconnectDetail()));
    }
}
