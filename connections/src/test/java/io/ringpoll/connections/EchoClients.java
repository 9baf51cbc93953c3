package io.ringpoll.connections;

import io.ringpoll.testing.TestDevice;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Further clients of the guide's echo server, each in a process of its own: {@code slow} fills the server's window, {@code
 * endless} sends until its process is killed, and {@code idle} sends nothing and waits for the server's end.
 */
public final class EchoClients {
    /** The answers that the slow client waits for, and after which the endless one prints a line. */
    static final int ANSWERS = 500;
    private static final long SLOW_NS = 200_000;

    private EchoClients() {
    }

    /** Sends numbers whenever there is credit, and checks the answers. */
    private static final class CheckingClient implements ConnectionListener {
        private final CountDownLatch answered = new CountDownLatch(1);
        private final CountDownLatch ended = new CountDownLatch(1);
        private final UnsafeBuffer number = new UnsafeBuffer(new byte[Integer.BYTES]);
        private final int messages;
        private final long handlingNs;
        private int sent;
        private int received;

        CheckingClient(final int messages, final long handlingNs) {
            this.messages = messages;
            this.handlingNs = handlingNs;
        }

        @Override
        public void onConnected(final MessageConnection connection) {
            onDrained(connection);
        }

        @Override
        public void onDrained(final MessageConnection connection) {
            while (sent < messages) {
                number.putInt(0, sent);
                if (!connection.trySend(number, 0, Integer.BYTES)) {
                    return;
                }
                sent++;
            }
        }

        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            if (handlingNs > 0) {
                LockSupport.parkNanos(handlingNs);
            }
            if (buffer.getInt(offset) != received) {
                throw new IllegalStateException("answer " + buffer.getInt(offset) + " in place of " + received);
            }
            if (++received == ANSWERS) {
                answered.countDown();
            }
            return true;
        }

        @Override
        public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) {
            print("ended: " + reason);
            ended.countDown();
        }
    }

    public static void main(final String[] args) throws Exception {
        final int port = Integer.parseInt(args[1]);
        switch (args[0]) {
            case "slow" -> send(port, 4, new CheckingClient(ANSWERS, SLOW_NS));
            case "endless" -> send(port, 8, new CheckingClient(Integer.MAX_VALUE, 0));
            default -> {
                final CheckingClient idle = new CheckingClient(0, 0);
                try (ConnectionSet set = SetPair.builder().listener(idle).start()) {
                    set.connect(TestDevice.address(), port);
                    idle.ended.await();
                }
            }
        }
    }

    private static void send(final int port, final int window, final CheckingClient client) throws Exception {
        try (ConnectionSet set = SetPair.builder().messagesInFlight(window).listener(client).start()) {
            set.connect(TestDevice.address(), port);
            client.answered.await();
            print(ANSWERS + " answers in order");
            if (client.messages > ANSWERS) {
                client.ended.await();
            }
        }
    }

    private static void print(final String line) {
        new PrintStream(new FileOutputStream(FileDescriptor.out), true).println(line);
    }
}
