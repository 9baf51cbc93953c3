package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;

/** Records all callbacks as text. */
class Recorder implements ConnectionListener {
    private static final long TIMEOUT_S = 50;

    final List<String> all = new CopyOnWriteArrayList<>();
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

    @Override
    public boolean onMessage(
        final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) throws Exception {
        add("message " + buffer.getStringWithoutLengthUtf8(offset, length));
        return true;
    }

    @Override
    public void onConnected(final MessageConnection connection) {
        add("connected");
    }

    @Override
    public void onDrained(final MessageConnection connection) {
        add("drained");
    }

    @Override
    public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) {
        add("disconnected " + reason);
    }

    final void add(final String event) {
        all.add(event);
        events.add(event);
    }

    /** The next event that begins with a word; others are skipped. */
    String await(final String begin) throws InterruptedException {
        while (true) {
            final String event = events.poll(TIMEOUT_S, TimeUnit.SECONDS);
            assertNotNull(event, () -> "no " + begin + " after " + all);
            if (event.startsWith(begin)) {
                return event;
            }
        }
    }
}
