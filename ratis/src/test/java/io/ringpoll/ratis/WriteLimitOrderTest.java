package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Ordered requests to a leader that refuses those above its limit of pending writes; the client sends them again. */
@Tag(TestDevice.TAG)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class WriteLimitOrderTest {
    private static final int REQUESTS = 300;
    private static final int WAIT_S = 60;
    private static final int PENDING_WRITES = 4;
    private static final TimeDuration RETRY = TimeDuration.valueOf(10, TimeUnit.MILLISECONDS);

    @TempDir
    private Path folder;
    private final List<Integer> applied = Collections.synchronizedList(new ArrayList<>());

    /** Records the applied numbers. */
    private final class Machine extends BaseStateMachine {
        @Override
        public CompletableFuture<Message> applyTransaction(final TransactionContext transaction) {
            applied.add(Integer.valueOf(
                transaction.getLogEntry().getStateMachineLogEntry().getLogData().toStringUtf8()));
            updateLastAppliedTermIndex(transaction.getLogEntry().getTerm(), transaction.getLogEntry().getIndex());
            return CompletableFuture.completedFuture(Message.EMPTY);
        }
    }

    @Test
    void shouldStoreTheRequestsInOrderWhenTheLeaderRefusesSomeForALimit() throws Exception {
        final RaftPeer peer = RaftPeer.newBuilder().setId("limit-s")
            .setAddress(TestDevice.address() + ":" + ConnectedPair.anyPort()).build();
        final RaftGroup group = RaftGroup.valueOf(RaftGroupId.randomId(), peer);
        final RaftProperties properties = TestProperties.patient();
        properties.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
        RaftServerConfigKeys.setStorageDir(properties, List.of(folder.toFile()));
        RaftServerConfigKeys.Write.setElementLimit(properties, PENDING_WRITES);
        try (RaftServer server = RaftServer.newBuilder().setServerId(peer.getId()).setProperties(properties).setGroup(group)
            .setStateMachineRegistry(id -> new Machine()).build();
            RaftClient client = RaftClient.newBuilder().setProperties(TestProperties.patient()).setRaftGroup(group)
                .setRetryPolicy(RetryPolicies.retryForeverWithSleep(RETRY)).build()) {
            server.start();
            // The leader is ready.
            client.io().send(Message.valueOf("-1"));
            final List<CompletableFuture<RaftClientReply>> replies = IntStream.range(0, REQUESTS)
                .mapToObj(i -> client.async().send(Message.valueOf(Integer.toString(i)))).toList();
            for (final CompletableFuture<RaftClientReply> reply : replies) {
                assertTrue(reply.get(WAIT_S, TimeUnit.SECONDS).isSuccess());
            }
            assertEquals(IntStream.range(-1, REQUESTS).boxed().toList(), List.copyOf(applied));
        }
    }
}
