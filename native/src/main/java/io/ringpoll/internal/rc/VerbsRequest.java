package io.ringpoll.internal.rc;

import io.ringpoll.verbs.ConnectionId;
import io.ringpoll.verbs.ConnectionParameters;
import io.ringpoll.verbs.ConnectionState;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;

/** An id of verbs that is not connected yet, with its queues. Used by one thread at a time. */
final class VerbsRequest extends RcRequest {
    /** As many reads and atomics at a time as the device allows, as librpma's. */
    private static final int MOST = 255;

    private final VerbsPeer peer;
    private final VerbsQueues queues;
    /** Whether the queues are the connection's. */
    private boolean connected;

    private VerbsRequest(final VerbsPeer peer, final VerbsQueues queues) {
        this.peer = peer;
        this.queues = queues;
    }

    /** Takes over the id. */
    static VerbsRequest of(final VerbsPeer peer, final ConnectionId id, final RcConfig config) {
        return new VerbsRequest(peer, new VerbsQueues(peer, id, config));
    }

    @Override
    public byte[] privateData() {
        return queues.id().privateData();
    }

    @Override
    public Optional<InetAddress> remoteAddress() {
        return queues.id().state() == ConnectionState.REQUESTED ?
            queues.id().remoteAddress().map(InetSocketAddress::getAddress) : Optional.empty();
    }

    @Override
    public boolean receive(final RcMemory destination, final long offset, final long lengthBytes, final long workRequestId) {
        return queues.queuePair().receive(VerbsMemory.of(destination), offset, lengthBytes, workRequestId);
    }

    @Override
    public Optional<RcQueue> sharedQueue() {
        return queues.shared();
    }

    @Override
    public int queuePairNumber() {
        return queues.queuePair().number();
    }

    @Override
    public RcConnection connect(final byte[] privateData) {
        try {
            final ConnectionParameters parameters = ConnectionParameters.create().privateData(privateData)
                .initiatorDepth(MOST).responderResources(MOST);
            if (queues.id().state() == ConnectionState.REQUESTED) {
                queues.id().accept(parameters);
            } else {
                queues.id().connect(parameters);
            }
            final RcConnection connection = new VerbsConnection(peer, queues);
            connected = true;
            return connection;
        } finally {
            close();
        }
    }

    @Override
    public void close() {
        if (!connected) {
            queues.close();
        }
    }
}
