package io.ringpoll.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.AsyncEventType;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.testing.NullArguments;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.VerbsPair;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every public method of the package names an argument that is null, in its own class. */
@Tag(TestDevice.TAG)
@Timeout(60)
class VerbsNullArgumentsTest {
    @Test
    void shouldNameNullArguments() {
        try (VerbsPair pair = VerbsPair.ofDefaults(); Listener listener = Listener.listen(VerbsPair.anyAddress(), 1);
            ConnectionId id = ConnectionId.resolve(VerbsPair.at(listener), VerbsPair.TIMEOUT_MS);
            VerbsCompletionQueue queue = VerbsCompletionQueue.create(id.context(), "queue", 16, null);
            SharedReceiveQueue shared = SharedReceiveQueue.create(pair.domain(), 4, 1);
            SendList sends = SendList.allocate(2, 1); ReceiveList receives = ReceiveList.allocate(2, 1)) {
            final MemoryRegion memory = pair.memory(64, VerbsPair.ALL);
            assertEquals("", new NullArguments()
                .sample(pair.domain()).sample(id).sample(queue).sample(shared).sample(sends, PostList.class).sample(receives)
                .sample(memory).sample(memory.remote()).sample(pair.client()).sample(listener)
                .sample(ConnectionParameters.create()).sample(QueuePairAttributes.create(queue)).sample(id.context())
                .sample(new ConnectionEvent(ConnectionEventType.ESTABLISHED, 0, new byte[0]))
                .sample(VerbsPair.address(), InetAddress.class).sample(VerbsPair.anyAddress(), InetSocketAddress.class)
                .sample(memory.memory(), MemorySegment.class)
                .sample(new AsyncEvent("device", AsyncEventType.CQ_ERR, 1, 1, 1))
                .meaningful("QueuePairAttributes.sharedReceiveQueue(queue)")
                .check(ConnectionId.class).faults());
        }
    }
}
