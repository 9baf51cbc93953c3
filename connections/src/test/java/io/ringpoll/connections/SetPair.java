package io.ringpoll.connections;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A listening set and a set that connects to it, in one process. */
record SetPair(ConnectionSet server, ConnectionSet client, int port) implements AutoCloseable {
    static final long TEN_SECONDS = TimeUnit.SECONDS.toNanos(10);
    private static final AtomicInteger NUMBER = new AtomicInteger();

    static SetPair of(final Consumer<ConnectionSetBuilder> sizes, final ConnectionListener server,
        final ConnectionListener client) {
        return of(RdmaApi.RPMA, sizes, server, client);
    }

    static SetPair of(final RdmaApi api, final Consumer<ConnectionSetBuilder> sizes, final ConnectionListener server,
        final ConnectionListener client) {
        final ConnectionSetBuilder serving = builder(api).listener(server);
        final ConnectionSetBuilder requesting = builder(api).listener(client);
        sizes.accept(serving);
        sizes.accept(requesting);
        final ConnectionSet listening = serving.start();
        return new SetPair(listening, requesting.start(), listening.listen(0));
    }

    /** A set for tests, which yields the few cores of the machine. */
    static ConnectionSetBuilder builder() {
        final String name = "set-" + NUMBER.incrementAndGet();
        return ConnectionSet.builder().name(name).address(TestDevice.address()).messagesInFlight(8).maxMessageBytes(256)
            .pipelines(i -> Pipeline.builder().name(name + '-' + i).withoutCountersFile()
                .idleStrategy(WaitMode.YIELD.newIdleStrategy()));
    }

    /** The same with either binding. */
    static ConnectionSetBuilder builder(final RdmaApi api) {
        return api == RdmaApi.VERBS ? builder().overVerbs() : builder();
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
