package io.ringpoll.internal.rc;

import io.ringpoll.rpma.ConnectionRequest;
import java.net.InetAddress;
import java.util.Optional;

/** A request of librpma. */
final class RpmaRequest extends RcRequest {
    private final ConnectionRequest request;

    RpmaRequest(final ConnectionRequest request) {
        this.request = request;
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
        return new RpmaConnection(request.connect(privateData));
    }

    @Override
    public void close() {
        request.close();
    }
}
