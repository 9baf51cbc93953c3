package io.ringpoll.connections;

import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/** A listening set and a set that connects to it, in one process. */
record SetPair(ConnectionSet server, ConnectionSet client, int port) implements AutoCloseable {
    static final long TEN_SECONDS = TimeUnit.SECONDS.toNanos(10);
    private static final AtomicInteger NUMBER = new AtomicInteger();

    static SetPair of(final Consumer<ConnectionSetBuilder> sizes, final ConnectionListener server,
        final ConnectionListener client) {
        return of(SetKind.RPMA, sizes, server, client);
    }

    static SetPair of(final SetKind kind, final Consumer<ConnectionSetBuilder> sizes, final ConnectionListener server,
        final ConnectionListener client) {
        final ConnectionSetBuilder serving = builder(kind).listener(server);
        final ConnectionSetBuilder requesting = builder(kind).listener(client);
        sizes.accept(serving);
        sizes.accept(requesting);
        final ConnectionSet listening = serving.start();
        return new SetPair(listening, requesting.start(), listening.listen(0));
    }

    /** A set for tests: its polling thread yields, and sleeps after some time without work, since cores are few. */
    static ConnectionSetBuilder builder() {
        final String name = "set-" + NUMBER.incrementAndGet();
        return ConnectionSet.builder().name(name).address(TestDevice.address()).messagesInFlight(8).maxMessageBytes(256)
            .pipelines(i -> Pipeline.builder().name(name + '-' + i).withoutCountersFile()
                .idleStrategy(yieldThenSleep()));
    }

    /** No latency while messages arrive. Most tests spend their time in waits, for the other end or for a time-out. */
    static IdleStrategy yieldThenSleep() {
        return new BackoffIdleStrategy(10, 1000, 50_000, 1_000_000);
    }

    /** The same with either binding, and with completion queues of either kind. */
    static ConnectionSetBuilder builder(final SetKind kind) {
        return kind.describe(builder());
    }

    MessageConnection connect() throws Exception {
        return client.connect(TestDevice.address(), port);
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
