package io.ringpoll.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.verbs.WorkCompletion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReadmeExampleTest {
    private static final String ADDRESS = TestDevice.address();
    private static final int EVENT_TIMEOUT_MS = 10_000;

    private final BlockingQueue<Long> written = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> others = new LinkedBlockingQueue<>();

    /** The example of README.md, between its two marks. */
    private void example(
        final Connection connection, final LocalMemoryRegion local, final RemoteMemoryRegion remote) throws Exception {
        // README: begin
        try (Pipeline pipeline = Pipeline.builder()
                .onSendWrite((wc, sequence, endOfBatch) -> written(wc.workRequestId()))
                .onReceive((wc, sequence, endOfBatch) -> received(wc))
                .onError((wc, sequence, endOfBatch) -> failed(wc))
                .start()) {
            pipeline.addQueue(connection.completionQueue());
            connection.write(remote, 0, local, 0, 64, CompletionFlag.ALWAYS, 42);
            awaitWritten(42);
            pipeline.removeQueue(connection.completionQueue());
        }
        // README: end
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldDeliverTheCompletionOfTheExamplesWrite() throws Exception {
        try (Peer peer = Peer.ofLocal(ADDRESS);
            Endpoint endpoint = peer.listen(ADDRESS, "7470");
            LocalMemoryRegion target = peer.allocate(64, MemoryUsage.WRITE_DESTINATION);
            LocalMemoryRegion source = peer.allocate(64, MemoryUsage.WRITE_SOURCE)) {
            final ConnectionRequest outgoing = peer.request(ADDRESS, "7470");
            try (Connection client = outgoing.connect();
                Connection server = endpoint.nextRequest(EVENT_TIMEOUT_MS).orElseThrow().connect(target.descriptor())) {
                assertEquals(ConnectionEvent.ESTABLISHED, client.nextEvent(EVENT_TIMEOUT_MS).orElseThrow());
                assertEquals(ConnectionEvent.ESTABLISHED, server.nextEvent(EVENT_TIMEOUT_MS).orElseThrow());
                try (RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(client.privateData())) {
                    example(client, source, remote);
                }
                client.disconnect();
            }
        }
        assertTrue(others.isEmpty(), others.toString());
    }

    @Test
    void shouldStandInTheReadmeAsItIsCompiledHere() throws IOException {
        final Path root = Path.of(System.getProperty("user.dir")).getParent();
        final String source = Files.readString(
            root.resolve("verify/src/test/java/io/ringpoll/verify/ReadmeExampleTest.java"));
        final int begin = source.indexOf("// README: begin\n") + "// README: begin\n".length();
        final String compiled = source.substring(begin, source.indexOf("\n        // README: end")).stripIndent() + '\n';
        final String readme = Files.readString(root.resolve("README.md"));
        final int block = readme.indexOf("```java\n") + "```java\n".length();
        assertEquals(compiled, readme.substring(block, readme.indexOf("```", block)));
    }

    private void written(final long workRequestId) {
        written.add(workRequestId);
    }

    private void received(final WorkCompletion wc) {
        others.add(wc.toString());
    }

    private void failed(final WorkCompletion wc) {
        others.add(wc.toString());
    }

    private void awaitWritten(final long workRequestId) throws InterruptedException {
        assertEquals(workRequestId, written.poll(10, TimeUnit.SECONDS));
    }
}
