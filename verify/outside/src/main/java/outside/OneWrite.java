package outside;

import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Writes eight bytes into its own memory over a connection, and prints the completion that its handler received. */
public final class OneWrite {
    private static final String ADDRESS = "127.0.0.1";
    private static final String PORT = "7479";
    private static final int TIMEOUT_MS = 10_000;

    private OneWrite() {
    }

    public static void main(final String[] arguments) throws Exception {
        try (Peer peer = Peer.ofLocal(ADDRESS); Endpoint endpoint = peer.listen(ADDRESS, PORT);
            LocalMemoryRegion target = peer.allocate(8, MemoryUsage.WRITE_DESTINATION);
            LocalMemoryRegion source = peer.allocate(8, MemoryUsage.WRITE_SOURCE);
            Connection client = peer.request(ADDRESS, PORT).connect();
            Connection server = endpoint.nextRequest(TIMEOUT_MS).orElseThrow().connect(target.descriptor())) {
            require(client.nextEvent(TIMEOUT_MS).orElseThrow() == ConnectionEvent.ESTABLISHED, "the client is not connected");
            require(server.nextEvent(TIMEOUT_MS).orElseThrow() == ConnectionEvent.ESTABLISHED, "the server is not connected");
            try (RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(client.privateData())) {
                write(client, remote, source);
            }
            client.disconnect();
        }
    }

    private static void write(final Connection client, final RemoteMemoryRegion remote, final LocalMemoryRegion source)
        throws InterruptedException, TimeoutException {
        final CountDownLatch handled = new CountDownLatch(1);
        try (Pipeline pipeline = Pipeline.builder()
            .onAll((wc, sequence, endOfBatch) -> {
                System.out.println("completion of work request " + wc.workRequestId() + ", success: " + wc.isSuccess());
                handled.countDown();
            })
            .start()) {
            pipeline.addQueue(client.completionQueue());
            require(client.write(remote, 0, source, 0, 8, CompletionFlag.ALWAYS, 42), "the send queue is full");
            require(handled.await(TIMEOUT_MS, TimeUnit.MILLISECONDS), "no completion arrived");
            pipeline.removeQueue(client.completionQueue());
        }
    }

    private static void require(final boolean condition, final String otherwise) {
        if (!condition) {
            throw new IllegalStateException(otherwise);
        }
    }
}
