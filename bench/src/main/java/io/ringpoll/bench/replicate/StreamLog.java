package io.ringpoll.bench.replicate;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32C;
import org.apache.ratis.protocol.ClientInvocationId;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.statemachine.StateMachine.DataChannel;
import org.apache.ratis.statemachine.StateMachine.DataStream;

/**
 * A {@link RecordLog} that also accepts data streams. It drops their bytes, so that a measurement does not depend on a disk. It
 * computes a checksum of each stream with the header {@link #SUMMED}, for the comparison of the servers.
 */
final class StreamLog extends RecordLog {
    /** Header of a verified stream. */
    static final String SUMMED = "summed";

    private final Map<ClientInvocationId, Sum> sums = new ConcurrentHashMap<>();

    /** Length and checksum of a verified stream. */
    private static final class Sum {
        private final CRC32C sum = new CRC32C();
        private long bytes;

        private synchronized void add(final ByteBuffer data) {
            bytes += data.remaining();
            sum.update(data);
        }

        private synchronized String text() {
            return text(bytes, sum.getValue());
        }

        private static String text(final long bytes, final long sum) {
            return bytes + " bytes with sum " + Long.toHexString(sum);
        }
    }

    /** Receives the bytes of a stream; without a sum, it drops them. */
    private record Sink(Sum sum) implements DataStream, DataChannel {
        @Override
        public DataChannel getDataChannel() {
            return this;
        }

        @Override
        public int write(final ByteBuffer data) {
            final int bytes = data.remaining();
            if (sum != null) {
                sum.add(data);
            }
            data.position(data.limit());
            return bytes;
        }

        @Override
        public void force(final boolean metadata) {
            // Nothing is stored.
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
            // Nothing is open.
        }

        @Override
        public CompletableFuture<?> cleanUp() {
            return CompletableFuture.completedFuture(null);
        }
    }

    @Override
    public CompletableFuture<DataStream> stream(final RaftClientRequest request) {
        final boolean summed = SUMMED.equals(request.getMessage().getContent().toStringUtf8());
        return CompletableFuture.completedFuture(new Sink(
            summed ? sums.computeIfAbsent(ClientInvocationId.valueOf(request), key -> new Sum()) : null));
    }

    /** Length and checksum of a verified stream, as text. */
    String sumOf(final ClientInvocationId stream) {
        final Sum sum = sums.get(stream);
        return sum == null ? "no stream" : sum.text();
    }

    /** The expected text for a length and a checksum. */
    static String text(final long bytes, final CRC32C sum) {
        return Sum.text(bytes, sum.getValue());
    }
}
