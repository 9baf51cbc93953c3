package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.ringpoll.internal.transport.PeerCounters;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.metrics.MetricRegistries;
import org.apache.ratis.metrics.RatisMetricRegistry;
import org.apache.ratis.metrics.impl.RatisMetricRegistryImpl;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexReplyProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.util.CodeInjectionForTesting;
import org.apache.ratis.util.ProtoUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The transports of two servers; the engine behind them is mocked. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RdmaServerRpcTest {
    private static final RaftPeerId SENDER = RaftPeerId.valueOf("rpc-sender");
    private static final RaftPeerId RECEIVER = RaftPeerId.valueOf("rpc-receiver");
    private static final long TERM = 7;
    private static final RaftGroupId GROUP = RaftGroupId.randomId();

    private final List<RdmaServerRpc> opened = new ArrayList<>();
    private final RaftServer engine = mock(RaftServer.class);
    private final RaftProperties properties = TestProperties.patient();
    private final int port = Integer.parseInt(ConnectedPair.anyPort());

    @AfterEach
    void close() throws Exception {
        CodeInjectionForTesting.remove(RdmaServerRpc.SEND_SERVER_REQUEST);
        for (final RdmaServerRpc rpc : opened) {
            rpc.close();
        }
        awaitEndOfThreads(SENDER + "-rdma");
        awaitEndOfThreads(RECEIVER + "-rdma");
    }

    /** A request thread may end a moment after its executor. */
    private static void awaitEndOfThreads(final String name) throws InterruptedException {
        final long startNs = System.nanoTime();
        while (threads(name) > 0) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(20), "threads of " + name);
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    private static long threads(final String name) {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().startsWith(name)).count();
    }

    /** The transport of an engine, not started. */
    private RdmaServerRpc rpc(final RaftPeerId id, final RaftServer server, final int listened) {
        RdmaConfigKeys.setServerHost(properties, TestDevice.address());
        RdmaConfigKeys.setServerPort(properties, listened);
        when(server.getId()).thenReturn(id);
        when(server.getProperties()).thenReturn(new RaftProperties(properties));
        final RdmaServerRpc rpc = new RdmaServerRpc(server, new RdmaRpcType());
        opened.add(rpc);
        return rpc;
    }

    private RdmaServerRpc receiver() throws IOException {
        final RdmaServerRpc receiver = rpc(RECEIVER, engine, port);
        receiver.start();
        return receiver;
    }

    private RdmaServerRpc sender() throws IOException {
        final RdmaServerRpc sender = rpc(SENDER, mock(RaftServer.class), 0);
        sender.start();
        sender.addRaftPeers(List.of(RaftPeer.newBuilder().setId(RECEIVER).setAddress(TestDevice.address() + ":" + port).build()));
        return sender;
    }

    private static RaftRpcRequestProto header() {
        return RaftRpcRequestProto.newBuilder().setRequestorId(SENDER.toByteString()).setReplyId(RECEIVER.toByteString())
            .setRaftGroupId(ProtoUtils.toRaftGroupIdProtoBuilder(GROUP)).build();
    }

    /** The receiver gives a read index to its leader. */
    private void followTheSender() throws IOException {
        final RaftServer.Division division = mock(RaftServer.Division.class);
        when(engine.getDivision(GROUP)).thenReturn(division);
        when(division.getRaftConf()).thenReturn(mock(RaftConfiguration.class));
        final DivisionInfo info = mock(DivisionInfo.class);
        when(division.getInfo()).thenReturn(info);
        when(info.getLeaderId()).thenReturn(SENDER);
    }

    private static RequestVoteRequestProto vote() {
        return RequestVoteRequestProto.newBuilder().setServerRequest(header()).setCandidateTerm(TERM).build();
    }

    private static AppendEntriesRequestProto entries() {
        return AppendEntriesRequestProto.newBuilder().setServerRequest(header()).setLeaderTerm(TERM).build();
    }

    private static <T> T within(final CompletableFuture<T> reply) throws Exception {
        return reply.get(30, TimeUnit.SECONDS);
    }

    private void answerVotes() throws IOException {
        when(engine.requestVote(any())).thenAnswer(call -> RequestVoteReplyProto.newBuilder()
            .setTerm(call.<RequestVoteRequestProto>getArgument(0).getCandidateTerm()).build());
    }

    private void answerEntries() throws IOException {
        when(engine.appendEntriesAsync(any())).thenAnswer(call -> CompletableFuture.completedFuture(AppendEntriesReplyProto
            .newBuilder().setTerm(call.<AppendEntriesRequestProto>getArgument(0).getLeaderTerm()).build()));
    }

    /** Its port would stay in use until the end of the process. */
    @Test
    void shouldCloseItsNodeIfTheCloseOfItsConnectionsFails() throws Exception {
        rpc(RECEIVER, engine, port);
        final RdmaServerRpc failing = new RdmaServerRpc(engine, new RdmaRpcType()) {
            @Override
            public RdmaProxyMap getProxies() {
                throw new IllegalStateException("on purpose");
            }
        };
        failing.start();
        assertThrows(IllegalStateException.class, failing::close);
        awaitEndOfThreads(RECEIVER + "-rdma");
        assertDoesNotThrow(this::receiver);
    }

    /** Their threads would continue, and the reason of the failed start would be lost. */
    @Test
    void shouldCloseTheGroupsOfAFailedStartIfTheCloseOfItsConnectionsFails() throws Exception {
        receiver();
        final RaftGroupId other = RaftGroupId.randomId();
        final RaftServer groups = mock(RaftServer.class);
        when(groups.getId()).thenReturn(SENDER);
        when(groups.getProperties()).thenReturn(new RaftProperties(properties));
        when(groups.getGroupIds()).thenReturn(List.of(GROUP, other));
        final RaftServer.Division first = mock(RaftServer.Division.class);
        final RaftServer.Division second = mock(RaftServer.Division.class);
        when(groups.getDivision(GROUP)).thenReturn(first);
        when(groups.getDivision(other)).thenReturn(second);
        final Error unclosed = new NoClassDefFoundError("on purpose");
        final Error unclosedGroup = new StackOverflowError("on purpose");
        doThrow(unclosedGroup).when(first).close();
        final RdmaServerRpc failing = new RdmaServerRpc(groups, new RdmaRpcType()) {
            @Override
            public RdmaProxyMap getProxies() {
                throw unclosed;
            }
        };
        final IOException failure = assertThrows(IOException.class, failing::start);
        assertTrue(failure.getMessage().contains(":" + port), failure::getMessage);
        assertEquals(List.of(unclosed, unclosedGroup), List.of(failure.getSuppressed()));
        verify(second).close();
        awaitEndOfThreads(SENDER + "-rdma");
    }

    @Test
    void shouldExchangeEveryKindOfRequest() throws Exception {
        answerVotes();
        answerEntries();
        followTheSender();
        when(engine.startLeaderElection(any())).thenReturn(StartLeaderElectionReplyProto.getDefaultInstance());
        when(engine.installSnapshot(any())).thenReturn(InstallSnapshotReplyProto.newBuilder().setTerm(TERM).build());
        receiver();
        final RdmaServerRpc sender = sender();
        assertEquals(TERM, sender.requestVote(vote()).getTerm());
        assertEquals(TERM, sender.appendEntries(entries()).getTerm());
        assertEquals(TERM, within(sender.async().appendEntriesAsync(entries())).getTerm());
        assertEquals(TERM, sender.installSnapshot(InstallSnapshotRequestProto.newBuilder().setServerRequest(header()).build())
            .getTerm());
        assertEquals(StartLeaderElectionReplyProto.getDefaultInstance(), sender.startLeaderElection(
            StartLeaderElectionRequestProto.newBuilder().setServerRequest(header()).build()));
        assertTrue(sender.counters().value(Count.FRAMES_SENT) >= 5);
    }

    @Test
    void shouldContinueAReadOnARequestThread() throws Exception {
        final CompletableFuture<ReadIndexReplyProto> answer = new CompletableFuture<>();
        when(engine.readIndexAsync(any())).thenReturn(answer);
        followTheSender();
        receiver();
        final CompletableFuture<String> thread =
            sender().readIndexAsync(ReadIndexRequestProto.newBuilder().setServerRequest(header()).build())
                .thenApply(reply -> Thread.currentThread().getName() + reply.getReadIndex());
        answer.complete(ReadIndexReplyProto.newBuilder().setReadIndex(12).build());
        final String name = within(thread);
        assertTrue(name.startsWith(SENDER + "-rdma-worker-") && name.endsWith("12"), name);
    }

    @Test
    void shouldReconnectForRequestsThatWait() throws Exception {
        answerVotes();
        final RdmaServerRpc first = receiver();
        final RdmaServerRpc sender = sender();
        assertFalse(sender.isConnected(RECEIVER));
        sender.requestVote(vote());
        assertTrue(sender.isConnected(RECEIVER));
        first.close();
        assertThrows(IOException.class, () -> sender.requestVote(vote()));
        assertFalse(sender.isConnected(RECEIVER));
        receiver();
        while (!sender.isConnected(RECEIVER)) {
            try {
                assertEquals(TERM, sender.requestVote(vote()).getTerm());
            } catch (final IOException later) {
                TimeUnit.MILLISECONDS.sleep(5);
            }
        }
    }

    /** A vote is not sent again in its round of an election, and the connection has ended long before. */
    @Test
    void shouldSendAVoteToAServerThatWasStartedAgain() throws Exception {
        answerVotes();
        final RdmaServerRpc first = receiver();
        final RdmaServerRpc sender = sender();
        sender.requestVote(vote());
        first.close();
        receiver();
        while (sender.isConnected(RECEIVER)) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
        assertEquals(TERM, sender.requestVote(vote()).getTerm());
    }

    @Test
    void shouldReconnectForRequestsWithAFuture() throws Exception {
        answerEntries();
        final RdmaServerRpc first = receiver();
        final RdmaServerRpc sender = sender();
        within(sender.appendEntriesAsync(entries()));
        first.close();
        assertThrows(Exception.class, () -> within(sender.appendEntriesAsync(entries())));
        receiver();
        while (!sender.isConnected(RECEIVER)) {
            try {
                assertEquals(TERM, within(sender.appendEntriesAsync(entries())).getTerm());
            } catch (final Exception later) {
                TimeUnit.MILLISECONDS.sleep(5);
            }
        }
    }

    @Test
    void shouldCallTheEnginesInjectionPointBeforeEachRequest() throws Exception {
        answerVotes();
        answerEntries();
        receiver();
        final RdmaServerRpc sender = sender();
        final AtomicInteger calls = new AtomicInteger();
        CodeInjectionForTesting.put(RdmaServerRpc.SEND_SERVER_REQUEST, (local, remote, arguments) -> {
            assertEquals(SENDER, local);
            calls.incrementAndGet();
            return true;
        });
        sender.requestVote(vote());
        assertEquals(1, calls.get());
        within(sender.appendEntriesAsync(entries()));
        assertEquals(2, calls.get());
    }

    @Test
    void shouldHaveAnAddressWhenItsPortIsKnown() throws Exception {
        final RdmaServerRpc anyPort = rpc(SENDER, mock(RaftServer.class), 0);
        assertThrows(IllegalStateException.class, anyPort::getInetSocketAddress);
        anyPort.start();
        assertEquals(TestDevice.address(), anyPort.getInetSocketAddress().getAddress().getHostAddress());
        final int selected = anyPort.getInetSocketAddress().getPort();
        assertTrue(selected >= 49_152 && selected < 49_152 + 16_000, "port " + selected);
        final InetSocketAddress configured = new InetSocketAddress(TestDevice.address(), port);
        final RdmaServerRpc known = rpc(RECEIVER, engine, port);
        assertEquals(configured, known.getInetSocketAddress());
        known.start();
        assertEquals(configured, known.getInetSocketAddress());
    }

    @Test
    void shouldListenOnItsAddressInTheGroupUnlessItIsSet() throws Exception {
        final RaftGroupId group = RaftGroupId.randomId();
        final RaftServer.Division division = mock(RaftServer.Division.class);
        final RaftConfiguration configuration = mock(RaftConfiguration.class);
        when(configuration.getPeer(RECEIVER)).thenReturn(
            RaftPeer.newBuilder().setId(RECEIVER).setAddress(TestDevice.address() + ":" + port).build());
        when(division.getRaftConf()).thenReturn(configuration);
        when(engine.getDivision(group)).thenReturn(division);
        when(engine.getGroupIds()).thenReturn(List.of(group));
        when(engine.getId()).thenReturn(RECEIVER);
        when(engine.getProperties()).thenReturn(new RaftProperties());
        final RdmaServerRpc inGroup = new RdmaServerRpc(engine, new RdmaRpcType());
        opened.add(inGroup);
        inGroup.start();
        assertEquals(new InetSocketAddress(TestDevice.address(), port), inGroup.getInetSocketAddress());
        inGroup.close();
        final int other = Integer.parseInt(ConnectedPair.anyPort());
        final RdmaServerRpc set = rpc(RECEIVER, engine, other);
        set.start();
        assertEquals(new InetSocketAddress(TestDevice.address(), other), set.getInetSocketAddress());
    }

    @Test
    void shouldReleaseItsNodeWhenThePortIsInUseAndStartLater() throws Exception {
        final RdmaServerRpc first = receiver();
        final RdmaServerRpc second = rpc(SENDER, mock(RaftServer.class), port);
        final IOException failure = assertThrows(IOException.class, second::start);
        assertTrue(failure.getMessage().contains(":" + port), failure.getMessage());
        assertEquals(0, threads(SENDER + "-rdma"));
        first.close();
        second.start();
        assertTrue(threads(SENDER + "-rdma") > 0);
    }

    @Test
    void shouldRefuseRequestsAndDropTasksAfterItsClose() throws Exception {
        answerVotes();
        receiver();
        final RdmaServerRpc sender = sender();
        final CompletableFuture<String> thread = new CompletableFuture<>();
        sender.executeOnRequestThread(() -> thread.complete(Thread.currentThread().getName()));
        assertTrue(within(thread).startsWith(SENDER + "-rdma-worker-"));
        sender.close();
        assertThrows(IOException.class, () -> sender.requestVote(vote()));
        assertDoesNotThrow(() -> sender.executeOnRequestThread(() -> { }));
    }

    @Test
    void shouldPreserveAnInterruptDuringItsClose() throws Exception {
        final CountDownLatch ends = new CountDownLatch(1);
        final RdmaServerRpc sender = sender();
        sender.executeOnRequestThread(() -> Uninterruptibles.awaitUninterruptibly(ends));
        Thread.currentThread().interrupt();
        sender.close();
        assertTrue(Thread.interrupted());
        ends.countDown();
    }

    @Test
    void shouldNotOpenItsNodeAfterAnEarlyClose() throws Exception {
        final ServerNode node = new ServerNode(engine);
        node.close();
        assertThrows(AlreadyClosedException.class, node::open);
    }

    @Test
    void shouldNameTheSettingOfADeviceThatDoesNotExist() {
        when(engine.getId()).thenReturn(RECEIVER);
        // An address for documentation, which no interface has, and a name that nothing has.
        for (final String host : new String[] {"203.0.113.1", "host.invalid"}) {
            RdmaConfigKeys.setServerHost(properties, host);
            when(engine.getProperties()).thenReturn(properties);
            final IOException failure = assertThrows(IOException.class, () -> new ServerNode(engine).open());
            assertTrue(failure.getMessage().contains(RdmaConfigKeys.SERVER_HOST_KEY), failure.getMessage());
            assertTrue(failure.getMessage().contains(host), failure.getMessage());
        }
    }

    @Test
    void shouldReportANodeThatDoesNotOpen() {
        properties.setInt(RdmaConfigKeys.POLLER_CPU_KEY, 4095);
        final IOException failure = assertThrows(IOException.class, this::receiver);
        assertTrue(failure.getMessage().contains("does not open"), failure.getMessage());
    }

    @Test
    void shouldReleaseItsNodeIfItsMetricsCannotBePublishedAndStartLater() throws Exception {
        final Consumer<RatisMetricRegistry> failing = registry -> {
            if (registry.getMetricRegistryInfo().getApplicationName().equals(RdmaServerMetrics.APPLICATION)) {
                throw new IllegalStateException("a reporter of the application has failed");
            }
        };
        final Consumer<RatisMetricRegistry> stopping = registry -> { };
        MetricRegistries.global().addReporterRegistration(failing, stopping);
        try {
            final Exception failure = assertThrows(IllegalStateException.class, this::receiver);
            assertEquals("a reporter of the application has failed", failure.getMessage());
        } finally {
            MetricRegistries.global().removeReporterRegistration(failing, stopping);
        }
        assertEquals(0, threads(RECEIVER + "-rdma"));
        // On the same port.
        receiver();
        assertTrue(threads(RECEIVER + "-rdma") > 0);
    }

    @Test
    void shouldPublishItsCountersAsMetricsWhileItIsOpen() throws Exception {
        answerVotes();
        receiver();
        final RdmaServerRpc sender = sender();
        sender.requestVote(vote());
        final RatisMetricRegistryImpl registry = (RatisMetricRegistryImpl) registries().findAny().orElseThrow();
        // Of the one that it has connected to.
        assertEquals(Count.values().length + PeerCounters.Figure.values().length,
            registry.getGauges((name, metric) -> true).size());
        assertEquals(1L, gauge(registry, RECEIVER + "_requests_sent"));
        final PeerCounters receiver = sender.counters().peer(RECEIVER.toString());
        assertTrue(receiver.value(PeerCounters.Figure.BYTES_SENT) > 1);
        for (final PeerCounters.Figure figure : PeerCounters.Figure.values()) {
            assertEquals(receiver.value(figure), gauge(registry, RECEIVER + "_" + figure.name().toLowerCase(Locale.ROOT)));
        }
        for (final Count count : Count.values()) {
            assertEquals(sender.counters().value(count), gauge(registry, "." + count.name().toLowerCase(Locale.ROOT)));
        }
        assertEquals(1, sender.counters().value(Count.CONNECTIONS_OPENED));
        sender.close();
        assertEquals(0, registries().count());
    }

    private static Object gauge(final RatisMetricRegistryImpl registry, final String end) {
        return registry.getGauges((name, metric) -> name.endsWith(end)).values().iterator().next().getValue();
    }

    private static Stream<RatisMetricRegistry> registries() {
        return MetricRegistries.global().getMetricRegistries().stream().filter(registry ->
            registry.getMetricRegistryInfo().getApplicationName().equals(RdmaServerMetrics.APPLICATION) &&
                registry.getMetricRegistryInfo().getPrefix().equals(SENDER.toString()));
    }
}
