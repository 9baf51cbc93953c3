package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.fault.FaultInjection;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.TestDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Peers that vanish without a disconnect, while nothing is sent. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@ParameterizedClass
@EnumSource(names = {"RPMA", "VERBS"})
class KeepaliveTest {
    /** After each look at the connections. */
    private static final long AT_EACH_LOOK = 1;
    private static final FaultPlan WRITE_UNACKNOWLEDGED = FaultPlan.parse("status:retry-exc-err:write@1");

    private final SetKind kind;
    private final Recorder server = new Recorder();
    private final Recorder client = new Recorder() {
        @Override
        public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) {
            add("disconnected " + reason + ' ' + connection.disconnectDetail());
        }
    };

    KeepaliveTest(final SetKind kind) {
        this.kind = kind;
    }

    private ConnectionSet clients(final long keepaliveNs) {
        return SetPair.builder(kind).keepaliveNs(keepaliveNs).listener(client).start();
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldKeepAPeerThatIsOnlySilent() throws Exception {
        try (ConnectionSet servers = SetPair.builder(kind).keepaliveNs(AT_EACH_LOOK).listener(server).start();
            ConnectionSet clients = clients(AT_EACH_LOOK)) {
            final MessageConnection connection = clients.connect(TestDevice.address(), servers.listen(0));
            final long before = completions(clients);
            while (completions(clients) < before + 4 || completions(servers) < 4) {
                Thread.sleep(10);
            }
            assertTrue(connection.isConnected());
            final UnsafeBuffer message = new UnsafeBuffer(new byte[] {'x'});
            assertTrue(connection.execute(() -> assertTrue(connection.trySend(message, 0, 1))));
            assertEquals("message x", server.await("message"));
        }
        assertEquals(List.of("connected", "message x", "disconnected PEER_CLOSED"), server.all);
    }

    private static long completions(final ConnectionSet set) {
        return set.pipelines().getFirst().pollerCounters().completions();
    }

    @Test
    void shouldLoseAPeerWhoseDeviceIsGone() throws Exception {
        try (ConnectionSet servers = SetPair.builder(kind).keepaliveNs(0).listener(server).start()) {
            final int port = servers.listen(0);
            try (FaultInjection ignored = FaultInjection.apply(WRITE_UNACKNOWLEDGED);
                ConnectionSet clients = clients(AT_EACH_LOOK)) {
                clients.connect(TestDevice.address(), port);
                assertEquals("disconnected PEER_LOST work completion IBV_WC_RETRY_EXC_ERR", client.await("disconnected"));
                assertEquals(0, clients.connections());
            }
        }
    }

    @Test
    void shouldAskNobodyWithoutAKeepalive() throws Exception {
        try (FaultInjection ignored = FaultInjection.apply(WRITE_UNACKNOWLEDGED);
            ConnectionSet servers = SetPair.builder(kind).keepaliveNs(0).listener(server).start();
            ConnectionSet clients = clients(0)) {
            final MessageConnection connection = clients.connect(TestDevice.address(), servers.listen(0));
            // Several looks.
            Thread.sleep(2500);
            assertTrue(connection.isConnected());
        }
    }

    /** Several looks: the acknowledgement of a keepalive waits in the queue, which is not polled. */
    @Test
    @Tag(TestDevice.TAG)
    void shouldKeepAPeerWhileThePipelineIsPaused() throws Exception {
        try (ConnectionSet servers = SetPair.builder(kind).keepaliveNs(0).listener(server).start();
            ConnectionSet clients = clients(AT_EACH_LOOK)) {
            final MessageConnection connection = clients.connect(TestDevice.address(), servers.listen(0));
            final Pipeline pipeline = clients.pipelines().getFirst();
            assertTrue(pipeline.pause(SetPair.TEN_SECONDS));
            Thread.sleep(5000);
            assertTrue(connection.isConnected(), connection::disconnectDetail);
            assertTrue(pipeline.resume(SetPair.TEN_SECONDS));
            final long before = completions(clients);
            while (completions(clients) < before + 2) {
                Thread.sleep(10);
            }
            assertTrue(connection.isConnected(), connection::disconnectDetail);
        }
    }

    /** They are reads: a keepalive is a write, and would end the connection. */
    @Test
    void shouldAskNobodyWhileOperationsComplete() throws Exception {
        assumeTrue(kind == SetKind.RPMA);
        try (FaultInjection ignored = FaultInjection.apply(WRITE_UNACKNOWLEDGED);
            Peer peer = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion memory = peer.allocate(8, MemoryUsage.READ_SOURCE, MemoryUsage.READ_DESTINATION);
            RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(memory.descriptor());
            ConnectionSet servers = SetPair.builder().address(null).peer(peer).keepaliveNs(0).listener(server).start();
            ConnectionSet clients = SetPair.builder().address(null).peer(peer).operationsInFlight(1).listener(client)
                .keepaliveNs(TimeUnit.SECONDS.toNanos(4)).start()) {
            final MessageConnection connection = clients.connect(TestDevice.address(), servers.listen(TestDevice.address(), 0));
            for (int i = 0; i < 130; i++) {
                assertTrue(connection.execute(() -> connection.tryRead(memory, 0, remote, 0, 8, 0)));
                Thread.sleep(50);
            }
            assertTrue(connection.isConnected(), connection::disconnectDetail);
            assertEquals("disconnected PEER_LOST work completion IBV_WC_RETRY_EXC_ERR", client.await("disconnected"));
        }
    }

    /** Its device is a part of it, and answers nothing any more. */
    @Test
    void shouldLoseAPeerWhoseProcessIsStopped() throws Exception {
        try (ConnectionSet servers = SetPair.builder(kind).keepaliveNs(AT_EACH_LOOK).listener(server).start()) {
            final List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(JavaProcess.flags());
            command.addAll(List.of("-XX:ActiveProcessorCount=1", "-cp", System.getProperty("java.class.path"),
                Program.class.getName(), Integer.toString(servers.listen(0)), kind.name()));
            final Process peer = new ProcessBuilder(command).inheritIO().redirectInput(ProcessBuilder.Redirect.PIPE).start();
            try {
                server.await("connected");
                assertEquals(0, new ProcessBuilder("kill", "-STOP", Long.toString(peer.pid())).start().waitFor());
                assertEquals("disconnected PEER_LOST", server.await("disconnected"));
                assertEquals(0, servers.connections());
            } finally {
                peer.destroyForcibly().waitFor();
            }
        }
    }

    /** A peer that does nothing. */
    static final class Program {
        private Program() {
        }

        public static void main(final String[] arguments) throws Exception {
            final ConnectionSet set = SetPair.builder(SetKind.valueOf(arguments[1])).keepaliveNs(TimeUnit.HOURS.toNanos(1))
                .listener((connection, buffer, offset, length) -> true).start();
            set.connect(TestDevice.address(), Integer.parseInt(arguments[0]));
            // Until the test ends it.
            System.in.read();
        }
    }
}
