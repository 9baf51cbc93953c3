package io.ringpoll.bench.echo;

import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

/** Aeron IPC: one subscription at each end, a publication for each connection in each direction, messages written in place. */
final class AeronEcho extends JavaEcho {
    private static final int FRAGMENT_LIMIT = 64;
    private static final long JOIN_MS = TimeUnit.SECONDS.toMillis(10);

    private final UnsafeBuffer message = new UnsafeBuffer(new byte[EchoScale.MESSAGE_BYTES]);
    private final AeronStreams streams;
    private final Thread server;
    private final Thread client;
    private final BufferClaim serverClaim = new BufferClaim();
    private final BufferClaim clientClaim = new BufferClaim();
    private volatile int turn;
    private volatile boolean ending;

    AeronEcho(final EchoScale scale, final EchoThreads threads) {
        super(scale, threads);
        streams = new AeronStreams(scale.connections());
        threads.gate().close();
        server = started("server", true, this::serve);
        client = started("client", false, this::request);
    }

    private Thread started(final String name, final boolean isServer, final Runnable body) {
        final Thread thread = new Thread(threads.pinned(isServer, () -> {
            try {
                body.run();
            } catch (final RuntimeException failure) {
                meter.fail(failure.toString());
            }
        }), "bench-aeron-" + name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void serve() {
        final Subscription requests = streams.server();
        final IdleStrategy idle = threads.newIdle();
        final FragmentHandler handler =
            (buffer, offset, length, header) -> answer(header.sessionId(), buffer, offset, length);
        while (!ending) {
            idle.idle(requests.poll(handler, FRAGMENT_LIMIT));
        }
    }

    private void answer(final int connection, final DirectBuffer buffer, final int offset, final int length) {
        final ExclusivePublication answers = streams.answers(connection);
        long position = answers.tryClaim(length, serverClaim);
        while (position < 0 && !ending) {
            streams.onServerRefused(position);
            position = answers.tryClaim(length, serverClaim);
        }
        if (position >= 0) {
            serverClaim.buffer().putBytes(serverClaim.offset(), buffer, offset, length);
            serverClaim.commit();
        }
    }

    private void request() {
        final Subscription answers = streams.client();
        final IdleStrategy idle = threads.newIdle();
        final FragmentHandler handler = (buffer, offset, length, header) -> onAnswer(header.sessionId());
        int begun = 0;
        while (!ending) {
            final int present = turn;
            if (present != begun) {
                begun = present;
                sendAll();
            }
            streams.invokeForServer();
            idle.idle(answers.poll(handler, FRAGMENT_LIMIT));
        }
    }

    private void onAnswer(final int connection) {
        if (meter.onAnswer()) {
            send(!meter.isPingPong() ? connection : connection + 1 == scale.connections() ? 0 : connection + 1);
        }
    }

    private void sendAll() {
        final int connections = meter.isPingPong() ? 1 : scale.connections();
        final int messages = meter.isPingPong() ? 1 : scale.inFlight();
        for (int i = 0; i < connections; i++) {
            for (int j = 0; j < messages; j++) {
                send(i);
            }
        }
    }

    private void send(final int connection) {
        meter.onSend();
        final ExclusivePublication requests = streams.requests(connection);
        long position = requests.tryClaim(EchoScale.MESSAGE_BYTES, clientClaim);
        while (position < 0 && !ending) {
            streams.onClientRefused(position);
            position = requests.tryClaim(EchoScale.MESSAGE_BYTES, clientClaim);
        }
        if (position >= 0) {
            clientClaim.buffer().putBytes(clientClaim.offset(), message, 0, EchoScale.MESSAGE_BYTES);
            clientClaim.commit();
        }
    }

    @Override
    protected void sendFirst() {
        // One thread starts turns.
        turn++;
    }

    @Override
    public void close() {
        ending = true;
        threads.gate().open();
        boolean ended = true;
        for (final Thread thread : new Thread[] {client, server}) {
            try {
                thread.join(JOIN_MS);
            } catch (final InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
            ended &= !thread.isAlive();
        }
        if (ended) {
            streams.close();
        }
    }
}
