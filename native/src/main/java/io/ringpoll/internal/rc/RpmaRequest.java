package io.ringpoll.internal.rc;

import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.RpmaCompletionQueue;
import java.net.InetAddress;
import java.util.Optional;

/** A request over librpma: a {@link ConnectionRequest}. Threads: {@link RcRequest}. */
final class RpmaRequest extends RcRequest {
    private final ConnectionRequest request;
    private final boolean counted;

    RpmaRequest(final ConnectionRequest request, final boolean counted) {
        this.request = request;
        this.counted = counted;
    }

    @Override
    public byte[] privateData() {
        return request.privateData();
    }

    @Override
    public Optional<InetAddress> remoteAddress() {
        return request.remoteAddress();
    }

    @Override
    public boolean receive(final RcMemory destination, final long offset, final long lengthBytes, final long workRequestId) {
        return request.receive(RpmaMemory.of(destination), offset, lengthBytes, workRequestId);
    }

    @Override
    public RcConnection connect(final byte[] privateData) {
        final Connection connection = request.connect(privateData);
        if (!counted) {
            connection.completionQueue().withoutBudget();
            connection.receiveCompletionQueue().ifPresent(RpmaCompletionQueue::withoutBudget);
        }
        return new RpmaConnection(connection);
    }

    @Override
    public void close() {
        request.close();
    }
}
