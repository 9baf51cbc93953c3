package io.ringpoll.internal.rc;

import java.net.InetAddress;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** A request of which some calls fail as planned. Used by one thread, except for its closes. */
public final class DefectiveRequest extends RcRequest {
    private final RcRequest request;
    private final UnaryOperator<RcConnection> onConnection;
    private RcMemory receives;
    private boolean full;
    private volatile boolean refusesClose;
    private volatile boolean closed;

    /** Passes all calls on until it is told otherwise; the connection is what the operator makes of it. */
    public DefectiveRequest(final RcRequest request, final UnaryOperator<RcConnection> onConnection) {
        this.request = request;
        this.onConnection = onConnection;
    }

    /** The receives after the first one find no room. */
    public void refuseReceives() {
        full = true;
    }

    /** Whether closes find it in use. */
    public void refuseCloses(final boolean refused) {
        refusesClose = refused;
    }

    /** The memory of the last receive. */
    public RcMemory receives() {
        return receives;
    }

    /** Whether a close has succeeded. */
    public boolean isClosed() {
        return closed;
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
        final boolean room = receives == null || !full;
        receives = destination;
        return room && request.receive(destination, offset, lengthBytes, workRequestId);
    }

    @Override
    public RcConnection connect(final byte[] privateData) {
        return onConnection.apply(request.connect(privateData));
    }

    @Override
    public void close() {
        if (refusesClose) {
            throw new IllegalStateException("a post has not returned");
        }
        request.close();
        closed = true;
    }
}
