package io.ringpoll.ratis;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.ClientInvocationId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.statemachine.StateMachine.DataChannel;
import org.apache.ratis.statemachine.StateMachine.DataStream;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;

/** Takes streams, and keeps the length and the sum of their bytes. */
final class StreamingMachine extends BaseStateMachine {
    private final Map<ClientInvocationId, Received> streams = new ConcurrentHashMap<>();
    private final AtomicLong bytes = new AtomicLong();
    /** Writes wait for it. */
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private volatile IOException broken;

    /** A stream at this server. */
    static final class Received implements DataStream {
        private final StreamingMachine machine;
        private final CRC32C sum = new CRC32C();
        private final CountDownLatch closed = new CountDownLatch(1);
        private final CountDownLatch linked = new CountDownLatch(1);
        private final CountDownLatch cleanedUp = new CountDownLatch(1);
        private long length;
        private long forced;

        private Received(final StreamingMachine machine) {
            this.machine = machine;
        }

        @Override
        public DataChannel getDataChannel() {
            return new Channel(this);
        }

        @Override
        public CompletableFuture<?> cleanUp() {
            cleanedUp.countDown();
            return CompletableFuture.completedFuture(null);
        }

        private synchronized int write(final ByteBuffer data) throws IOException {
            final int written = data.remaining();
            try {
                machine.gate.await();
            } catch (final InterruptedException e) {
                throw new IOException(e);
            }
            if (machine.broken != null) {
                throw machine.broken;
            }
            sum.update(data);
            length += written;
            machine.bytes.addAndGet(written);
            return written;
        }

        synchronized String digest() {
            return length + " bytes, sum " + sum.getValue();
        }

        synchronized long forced() {
            return forced;
        }

        private synchronized void force() {
            forced = length;
        }

        boolean isCleanedUp() {
            return cleanedUp.getCount() == 0;
        }

        CountDownLatch linked() {
            return linked;
        }

        CountDownLatch cleanedUp() {
            return cleanedUp;
        }

        boolean isClosed() {
            return closed.getCount() == 0;
        }
    }

    private record Channel(Received stream) implements DataChannel {
        @Override
        public int write(final ByteBuffer data) throws IOException {
            return stream.write(data);
        }

        @Override
        public void force(final boolean metadata) {
            stream.force();
        }

        @Override
        public boolean isOpen() {
            return !stream.isClosed();
        }

        @Override
        public void close() {
            stream.closed.countDown();
        }
    }

    @Override
    public CompletableFuture<DataStream> stream(final RaftClientRequest request) {
        final Received stream = new Received(this);
        streams.put(ClientInvocationId.valueOf(request), stream);
        return CompletableFuture.completedFuture(stream);
    }

    @Override
    public CompletableFuture<?> link(final DataStream stream, final LogEntryProto entry) {
        if (stream instanceof final Received received) {
            received.linked.countDown();
        }
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<Message> applyTransaction(final TransactionContext transaction) {
        final LogEntryProto entry = transaction.getLogEntry();
        updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
        return CompletableFuture.completedFuture(Message.valueOf("applied"));
    }

    /** The stream of a client's request; null if it has not been opened. */
    Received of(final RaftClientRequest header) {
        return of(ClientInvocationId.valueOf(header));
    }

    /** A stream; null if it has not been opened. */
    Received of(final ClientInvocationId stream) {
        return streams.get(stream);
    }

    /** Bytes written to all streams. */
    long bytes() {
        return bytes.get();
    }

    /** Lets writes wait until the latch is open. */
    void waitFor(final CountDownLatch latch) {
        gate = latch;
    }

    /** Lets writes fail. */
    void fail(final IOException failure) {
        broken = failure;
    }
}
