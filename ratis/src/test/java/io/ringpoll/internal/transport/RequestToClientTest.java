package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.ratis.RdmaRpcType;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.RaftClientRpc;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that sends a request to a client, which the protocol permits. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RequestToClientTest {
    private static final RaftPeerId SERVER = RaftPeerId.valueOf("server");

    private final Nodes nodes = new Nodes();

    @AfterEach
    void close() {
        nodes.close();
    }

    @Test
    void shouldAnswerThatAClientServesNoRequests() throws Exception {
        final Nodes.Server server = nodes.server((type, message) -> CompletableFuture.completedFuture(
            ClientProtoUtils.toRaftClientReplyProto(RaftClientReply.newBuilder()
                .setRequest(ClientProtoUtils.toRaftClientRequest((RaftClientRequestProto) message)).setSuccess().build())));
        final ClientId id = ClientId.randomId();
        try (RaftClientRpc client =
            new RdmaRpcType().newFactory(new Parameters()).newRaftClientRpc(id, new RaftProperties())) {
            client.addRaftPeers(
                RaftPeer.newBuilder().setId(SERVER).setAddress(TestDevice.address() + ":" + server.port()).build());
            for (int callId = 1; callId < 3; callId++) {
                final RaftClientRequest request = RaftClientRequest.newBuilder().setClientId(id).setServerId(SERVER)
                    .setGroupId(RaftGroupId.randomId()).setCallId(callId).setMessage(Message.EMPTY)
                    .setType(RaftClientRequest.writeRequestType()).build();
                assertEquals(callId, client.sendRequest(request).getCallId());
                final CompletableFuture<ByteString> asked = Nodes.reply(server.node().link(1), ByteString.EMPTY);
                final Throwable refusal =
                    assertThrows(ExecutionException.class, () -> asked.get(30, TimeUnit.SECONDS)).getCause();
                assertTrue(refusal.getMessage().contains("a client serves no requests"), refusal.getMessage());
            }
        }
    }
}
