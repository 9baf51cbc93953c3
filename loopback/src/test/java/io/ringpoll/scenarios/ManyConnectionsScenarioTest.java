package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.os.DescriptorPoll;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Example 06, with and without a shared completion channel: one thread serves many clients. It waits on the descriptors of the
 * endpoint and of all connections, reads each client's name from the client's memory, and ends the connection.
 */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ManyConnectionsScenarioTest extends Scenario {
    private static final int CLIENTS = 8;
    private static final int NAME_LENGTH = 32;

    private final Set<String> names = new TreeSet<>();
    private int ended;

    @ParameterizedTest(name = "shared channel: {0}")
    @ValueSource(booleans = {false, true})
    void shouldServeManyClientsOnOneThread(final boolean sharedChannel) {
        run(() -> server(sharedChannel), this::clients);
        final Set<String> expected = new TreeSet<>();
        for (int i = 0; i < CLIENTS; i++) {
            expected.add("client " + i);
        }
        assertEquals(expected, names);
    }

    private void server(final boolean sharedChannel) {
        final List<Client> clients = new ArrayList<>();
        try (Peer peer = Peer.ofLocal(ADDRESS);
            LocalMemoryRegion memory = peer.allocate(CLIENTS * NAME_LENGTH, MemoryUsage.READ_DESTINATION);
            ConnectionConfig config = ConnectionConfig.create().sharedCompletionChannel(sharedChannel);
            DescriptorPoll poll = new DescriptorPoll(); Endpoint endpoint = listen(peer)) {
            poll.add(endpoint.fd(), () -> endpoint.nextRequest(config, 0).ifPresent(request -> {
                final int offset = clients.size() * NAME_LENGTH;
                clients.add(new Client(poll, memory, offset, request.connect(), sharedChannel));
            }));
            while (ended < CLIENTS) {
                assertTrue(poll.await(TIMEOUT_MS) > 0, "nothing happens any more");
            }
        }
    }

    private void clients() {
        awaitServer();
        final List<OtherThread<Void>> threads = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            final String name = "client " + i;
            threads.add(OtherThread.run(() -> {
                client(name);
                return null;
            }));
        }
        threads.forEach(OtherThread::result);
    }

    private void client(final String name) {
        try (Peer peer = Peer.ofRemote(ADDRESS); LocalMemoryRegion memory = peer.allocate(NAME_LENGTH, MemoryUsage.READ_SOURCE)) {
            putText(memory, name);
            try (Connection connection = connect(peer, null, memory.descriptor())) {
                awaitDisconnect(connection);
            }
        }
    }

    /** A client as the server sees it; everything happens on the server's thread. */
    private final class Client {
        private final DescriptorPoll poll;
        private final LocalMemoryRegion memory;
        private final int offset;
        private final Connection connection;
        private final boolean sharedChannel;
        private final Completions completions = new Completions();

        Client(final DescriptorPoll poll, final LocalMemoryRegion memory, final int offset, final Connection connection,
            final boolean sharedChannel) {
            this.poll = poll;
            this.memory = memory;
            this.offset = offset;
            this.connection = connection;
            this.sharedChannel = sharedChannel;
            poll.add(connection.eventFd(), this::onEvent);
            poll.add(sharedChannel ? connection.completionFd() : connection.completionQueue().fd(), this::onCompletion);
        }

        private void onEvent() {
            final Optional<ConnectionEvent> event = connection.nextEvent(0);
            if (event.isEmpty()) {
                return;
            }
            if (event.get() == ConnectionEvent.ESTABLISHED) {
                // The private data of the client's request is the descriptor of its name.
                try (RemoteMemoryRegion name = RemoteMemoryRegion.ofDescriptor(connection.privateData())) {
                    assertTrue(connection.read(memory, offset, name, 0, NAME_LENGTH, CompletionFlag.ALWAYS, 1));
                }
            } else {
                assertEquals(ConnectionEvent.CLOSED, event.get());
                poll.remove(connection.eventFd());
                poll.remove(connection.completionQueue().fd());
                connection.close();
                ended++;
            }
        }

        private void onCompletion() {
            final RpmaCompletionQueue queue = connection.completionQueue();
            final boolean event = sharedChannel ? connection.awaitCompletions(0).isPresent() : queue.await(0);
            if (event && queue.poll(completions.records(), 0, 1) == 1) {
                assertEquals(WcOpcode.RDMA_READ, completions.at(0).opcode());
                names.add(memory.memory().getString(offset, StandardCharsets.UTF_8));
                connection.disconnect();
            }
        }
    }
}
