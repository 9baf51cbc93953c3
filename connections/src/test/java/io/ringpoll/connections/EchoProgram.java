package io.ringpoll.connections;

import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.net.ConnectException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Runs the echo server of the guide with the client of the guide, a slow client that fills the server's window, and one that
 * vanishes with messages in flight. A last one is connected when the process gets its signal.
 */
public final class EchoProgram {
    private static final int SLOW_MESSAGES = 500;
    private static final long SLOW_NS = 200_000;

    private EchoProgram() {
    }

    /** Sends faster than it handles the answers. */
    private static final class SlowClient implements ConnectionListener {
        private final CountDownLatch ended = new CountDownLatch(1);
        private int sent;
        private int received;

        @Override
        public void onConnected(final MessageConnection connection) {
            onDrained(connection);
        }

        @Override
        public void onDrained(final MessageConnection connection) {
            final UnsafeBuffer number = new UnsafeBuffer(new byte[Integer.BYTES]);
            while (sent < SLOW_MESSAGES) {
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
            LockSupport.parkNanos(SLOW_NS);
            if (buffer.getInt(offset) != received) {
                throw new IllegalStateException("answer " + buffer.getInt(offset) + " in place of " + received);
            }
            if (++received == SLOW_MESSAGES) {
                ended.countDown();
            }
            return true;
        }
    }

    public static void main(final String[] args) throws Exception {
        final String port = ConnectedPair.anyPort();
        final Class<?> server = Class.forName("EchoServer");
        Thread.ofPlatform().name("server").start(() -> call(server, port));
        // Until the server listens, the request is rejected.
        boolean listening = false;
        while (!listening) {
            try (ConnectionSet set = SetPair.builder().listener((connection, buffer, offset, length) -> true).start()) {
                listening = isListening(set, Integer.parseInt(port));
            }
        }
    }

    private static boolean isListening(final ConnectionSet set, final int port) throws Exception {
        final MessageConnection last;
        try {
            last = set.connect(TestDevice.address(), port);
        } catch (final ConnectException early) {
            return false;
        }
        call(Class.forName("EchoClient"), TestDevice.address(), Integer.toString(port));
        final SlowClient slow = new SlowClient();
        try (ConnectionSet slowSet = SetPair.builder().messagesInFlight(4).listener(slow).start()) {
            slowSet.connect(TestDevice.address(), port);
            slow.ended.await();
            print("slow client: " + slow.received + " answers in order");
        }
        try (RawClient raw = new RawClient(port, RawClient.HELLO.encode())) {
            for (int i = 0; i < 8; i++) {
                raw.send(1, 0);
            }
        }
        print("ready " + last.isConnected());
        set.awaitClose();
        return true;
    }

    private static void call(final Class<?> program, final String... arguments) {
        try {
            program.getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (final ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static void print(final String line) {
        new PrintStream(new FileOutputStream(FileDescriptor.out), true).println(line);
    }
}
