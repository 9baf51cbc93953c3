package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.rpma.SharedReceiveQueue;
import io.ringpoll.rpma.SharedReceiveQueueConfig;
import io.ringpoll.testing.CallFault;
import io.ringpoll.testing.Completions;
import java.util.Optional;

/** The whole life of a connection on one thread, from the device to the last event, with one of its native calls failing. */
final class ConnectionLife extends Scenario {
    private static final int EIO = 5;

    private final Completions completions = new Completions();

    /**
     * The result of a run.
     *
     * @param failed    the native call that has failed, or empty if there are fewer calls
     * @param exception thrown, if any
     */
    record Outcome(Optional<String> failed, Optional<RuntimeException> exception) {
        /**
         * Whether the call failed in librpma's rpma_conn_new(), after the id has been given a channel of its own. Its
         * rpma_conn_new_accept() never destroys the id of a request that it has accepted and then cannot make a connection of;
         * its counterpart on the active side does.
         */
        boolean isLostByLibrpma() {
            return failed.equals(Optional.of("ibv_reg_mr")) && exception.isPresent() &&
                exception.get().getMessage().startsWith("rpma_conn_req_connect failed");
        }

        /** Whether a region could not be deregistered: its memory is kept then, since the device may still write to it. */
        boolean keepsMemory() {
            return failed.equals(Optional.of("ibv_dereg_mr")) && exception.isPresent() &&
                exception.get().getMessage().startsWith("rpma_mr_dereg failed");
        }
    }

    /** Runs a connection once; the n-th native call fails. */
    Outcome runWithFailingCall(final int n) {
        Optional<RuntimeException> exception = Optional.empty();
        CallFault.plan(n, EIO);
        try {
            runOnce();
        } catch (final RuntimeException failure) {
            exception = Optional.of(failure);
        }
        final Optional<String> failed = CallFault.failed();
        CallFault.plan(0, 0);
        return new Outcome(failed, exception);
    }

    /** Runs a connection once. */
    void runOnce() {
        try (Peer peer = Peer.ofLocal(ADDRESS);
            SharedReceiveQueueConfig queueConfig = SharedReceiveQueueConfig.create().rcqSize(8);
            SharedReceiveQueue shared = peer.sharedReceiveQueue(queueConfig);
            ConnectionConfig config = ConnectionConfig.create().rcqSize(8).sharedCompletionChannel(true);
            ConnectionConfig serverConfig = ConnectionConfig.create().sharedReceiveQueue(shared);
            LocalMemoryRegion memory = peer.allocate(64, MemoryUsage.values());
            Endpoint endpoint = peer.listen(ADDRESS, port());
            Connection client = peer.request(ADDRESS, port(), config).connect();
            Connection server = endpoint.nextRequest(serverConfig, TIMEOUT_MS).orElseThrow().connect(memory.descriptor())) {
            awaitEvent(client, ConnectionEvent.ESTABLISHED);
            awaitEvent(server, ConnectionEvent.ESTABLISHED);
            write(client);
            client.disconnect();
            awaitDisconnect(server);
            awaitEvent(client, ConnectionEvent.CLOSED);
        }
    }

    private void write(final Connection client) {
        try (RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(client.privateData());
            VerbsCompletionQueue queue = client.completionQueue().openVerbs();
            CompletionChannel channel = CompletionChannel.borrow(queue)) {
            queue.requestNotification(false);
            assertTrue(client.atomicWrite(remote, 0, 1, CompletionFlag.ALWAYS, 1));
            assertEquals(queue, channel.await(TIMEOUT_MS));
            awaitSuccess(completions, queue, WcOpcode.RDMA_WRITE);
        }
    }
}
