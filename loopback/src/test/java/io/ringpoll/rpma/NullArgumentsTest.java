package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.AsyncEventType;
import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.QueuePairAttachments;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.NullArguments;
import io.ringpoll.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every public method of the binding names an argument that is null, in its own class. */
@Tag(TestDevice.TAG)
@Timeout(60)
class NullArgumentsTest {
    @Test
    void shouldNameNullArguments() {
        final String port = ConnectedPair.anyPort();
        try (ConnectedPair pair = ConnectedPair.ofDefaults(); Peer peer = Peer.ofLocal(TestDevice.address());
            Endpoint endpoint = peer.listen(TestDevice.address(), port);
            ConnectionRequest request = peer.request(TestDevice.address(), port);
            ConnectionConfig config = ConnectionConfig.create(); PeerConfig peerConfig = PeerConfig.create();
            SharedReceiveQueueConfig sharedConfig = SharedReceiveQueueConfig.create();
            SharedReceiveQueue shared = peer.sharedReceiveQueue(sharedConfig);
            VerbsCompletionQueue view = pair.client().completionQueue().openVerbs();
            CompletionChannel channel = CompletionChannel.borrow(view)) {
            final LocalMemoryRegion memory = pair.memory(4096);
            final RemoteMemoryRegion remote = pair.remote(memory);
            final Consumer<Object> nothing = ignored -> { };
            assertEquals("", new NullArguments()
                .sample(peer).sample(endpoint).sample(request).sample(pair.client()).sample(config).sample(peerConfig)
                .sample(memory).sample(remote).sample(shared).sample(sharedConfig).sample(new LegacyCompletion())
                .sample(pair.client().completionQueue(), CompletionQueue.class).sample(view).sample(channel)
                .sample(peer.context()).sample(new WorkCompletion()).sample(WorkCompletions.allocate(4))
                .sample(new CompletionBudget(4)).sample(new QueuePairAttachments())
                .sample(new UnsafeBuffer(ByteBuffer.allocateDirect(4096)), DirectBuffer.class)
                .sample(memory.memory(), MemorySegment.class).sample(nothing, Consumer.class)
                .sample(new AsyncEvent("device", AsyncEventType.CQ_ERR, 1, 1, 1))
                .meaningful(
                    "Connection.read(destination)", "Connection.read(source)", "Connection.write(destination)",
                    "Connection.write(source)", "Connection.writeWithImmediate(destination)",
                    "Connection.writeWithImmediate(source)", "Connection.send(source)",
                    "Connection.sendWithImmediate(source)", "Connection.receive(destination)",
                    "SharedReceiveQueue.receive(destination)", "Endpoint.nextRequest(config)", "Peer.request(config)",
                    "Peer.sharedReceiveQueue(config)", "VerbsCompletionQueue.create(channel)",
                    "VerbsCompletionQueue.createWithTimestamps(channel)",
                    "VerbsCompletionQueue.budget(account)")
                .check(Peer.class).check(VerbsCompletionQueue.class).faults());
        }
    }
}
