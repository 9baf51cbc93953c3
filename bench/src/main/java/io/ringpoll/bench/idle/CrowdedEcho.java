package io.ringpoll.bench.idle;

import io.ringpoll.connections.ConnectionListener;
import io.ringpoll.connections.ConnectionSet;
import io.ringpoll.connections.MessageConnection;
import io.ringpoll.device.Device;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.WaitMode;
import java.net.ConnectException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * An echo between pollers that share the CPUs of the process, with a connection for each pair of them.
 *
 * <p>Used by the measuring thread.
 */
final class CrowdedEcho implements AutoCloseable {
    private static final int MESSAGE_BYTES = 64;
    private static final int WINDOW = 64;
    private static final long SETTLE_MS = 300;

    private final ConnectionSet server;
    private final ConnectionSet client;
    private final List<Line> lines;

    /** A connection of the client; its count is written by its polling thread. */
    private record Line(MessageConnection connection, AtomicLong answers) {
    }

    /** Sends each answer back as the next message. */
    private static final class Client implements ConnectionListener {
        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            final AtomicLong answers = (AtomicLong) connection.attachment();
            answers.setRelease(answers.getPlain() + 1);
            return connection.trySend(buffer, offset, length);
        }
    }

    CrowdedEcho(final WaitMode wait, final int pairs) throws ConnectException {
        server = start("idle-server", wait, pairs, MessageConnection::trySend);
        client = start("idle-client", wait, pairs, new Client());
        final int port = server.listen(0);
        lines = Stream.generate(() -> connect(port)).limit(pairs).toList();
    }

    private static ConnectionSet start(
        final String name, final WaitMode wait, final int pollers, final ConnectionListener listener) {
        return ConnectionSet.builder().name(name).pollers(pollers).messagesInFlight(WINDOW).maxMessageBytes(MESSAGE_BYTES)
            .maxConnections(pollers).listener(listener)
            .pipelines(i -> Pipeline.builder().name(name + '-' + i).withoutCountersFile().idleStrategy(wait.newIdleStrategy()))
            .start();
    }

    private Line connect(final int port) {
        try {
            final MessageConnection connection = client.connect(Device.current().address().host(), port);
            final AtomicLong answers = new AtomicLong();
            connection.attach(answers);
            return new Line(connection, answers);
        } catch (final ConnectException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Adds messages to those in flight on each connection. */
    void add(final int messages) throws InterruptedException {
        final UnsafeBuffer message = new UnsafeBuffer(new byte[MESSAGE_BYTES]);
        for (final Line line : lines) {
            line.connection.execute(() -> {
                for (int i = 0; i < messages; i++) {
                    line.connection.trySend(message, 0, MESSAGE_BYTES);
                }
            });
        }
        Thread.sleep(SETTLE_MS);
    }

    /** The round trips in a second on all connections together, in successive blocks of time. */
    double[] roundTrips(final int blocks, final long blockNs) throws InterruptedException {
        final double[] perSecond = new double[blocks];
        long before = answers();
        long startNs = System.nanoTime();
        for (int i = 0; i < blocks; i++) {
            TimeUnit.NANOSECONDS.sleep(blockNs);
            final long now = answers();
            final long nowNs = System.nanoTime();
            perSecond[i] = (now - before) * (double) TimeUnit.SECONDS.toNanos(1) / (nowNs - startNs);
            before = now;
            startNs = nowNs;
        }
        return perSecond;
    }

    private long answers() {
        return lines.stream().mapToLong(line -> line.answers.getAcquire()).sum();
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
