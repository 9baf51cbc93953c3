package io.ringpoll.connections;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.rc.RpmaObjects;
import io.ringpoll.internal.rc.VerbsObjects;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.verbs.MemoryRegion;
import io.ringpoll.verbs.QueuePair;
import io.ringpoll.verbs.RemoteMemory;
import java.util.Objects;

/**
 * The one-sided operations of one connection that are under way: RDMA writes and reads, each with a tag of the user.
 *
 * <p>Belongs to the polling thread. Each operation is signalled, and the completions of a send queue are in the order of its
 * requests, with or without errors: so the tags are a ring, and an id contains the counts of the sends before it.
 */
final class OneSidedOperations {
    private final MessageConnection owner;
    /** Null over verbs. */
    private final Connection connection;
    /** Null over librpma. */
    private final QueuePair queuePair;
    private final ConnectionListener listener;
    /** Tags of the operations under way, in order from {@link #first}. */
    private final long[] tags;
    private int first;
    private int underWay;
    private long completed;

    OneSidedOperations(final MessageConnection owner, final int most, final ConnectionListener listener) {
        this.owner = owner;
        this.listener = listener;
        connection = RpmaObjects.of(owner.connection());
        queuePair = VerbsObjects.of(owner.connection());
        tags = new long[most];
    }

    /** Posts a write; as {@link MessageConnection#tryWrite}. */
    boolean tryWrite(final RemoteMemoryRegion destination, final long destinationOffset, final LocalMemoryRegion source,
        final long sourceOffset, final long lengthBytes, final long tag) {
        requireMemory(connection, "librpma", destination, source);
        if (!hasRoom(lengthBytes)) {
            return false;
        }
        try {
            return onPosted(connection.write(destination, destinationOffset, source, sourceOffset, lengthBytes,
                CompletionFlag.ALWAYS, owner.operationId()), tag);
        } catch (final RdmaException failed) {
            owner.fail(failed.getMessage());
            return false;
        }
    }

    /** Posts a read; as {@link MessageConnection#tryRead}. */
    boolean tryRead(final LocalMemoryRegion destination, final long destinationOffset, final RemoteMemoryRegion source,
        final long sourceOffset, final long lengthBytes, final long tag) {
        requireMemory(connection, "librpma", destination, source);
        if (!hasRoom(lengthBytes)) {
            return false;
        }
        try {
            return onPosted(connection.read(destination, destinationOffset, source, sourceOffset, lengthBytes,
                CompletionFlag.ALWAYS, owner.operationId()), tag);
        } catch (final RdmaException failed) {
            owner.fail(failed.getMessage());
            return false;
        }
    }

    /** Posts a write over verbs. */
    boolean tryWrite(final RemoteMemory destination, final long destinationOffset, final MemoryRegion source,
        final long sourceOffset, final long lengthBytes, final long tag) {
        requireMemory(queuePair, "verbs", destination, source);
        if (!hasRoom(lengthBytes)) {
            return false;
        }
        try {
            return onPosted(queuePair.write(
                destination, destinationOffset, source, sourceOffset, lengthBytes, true, owner.operationId()), tag);
        } catch (final RdmaException failed) {
            owner.fail(failed.getMessage());
            return false;
        }
    }

    /** Posts a read over verbs. */
    boolean tryRead(final MemoryRegion destination, final long destinationOffset, final RemoteMemory source,
        final long sourceOffset, final long lengthBytes, final long tag) {
        requireMemory(queuePair, "verbs", destination, source);
        if (!hasRoom(lengthBytes)) {
            return false;
        }
        try {
            return onPosted(queuePair.read(
                destination, destinationOffset, source, sourceOffset, lengthBytes, true, owner.operationId()), tag);
        } catch (final RdmaException failed) {
            owner.fail(failed.getMessage());
            return false;
        }
    }

    private void requireMemory(final Object ofBinding, final String name, final Object destination, final Object source) {
        Objects.requireNonNull(destination, "the destination is null");
        Objects.requireNonNull(source, "the source is null");
        if (ofBinding == null) {
            throw new IllegalStateException("memory of " + name + ", and " + owner +
                " is not made with it: use memory of the peer or domain that the set was given");
        }
    }

    private boolean hasRoom(final long lengthBytes) {
        if (lengthBytes < 1) {
            throw new IllegalArgumentException("a one-sided operation of " + lengthBytes + " bytes: at least 1 is needed");
        }
        if (tags.length == 0) {
            throw new IllegalStateException(owner + " has no one-sided operations: set operationsInFlight");
        }
        return underWay < tags.length && owner.isOpen();
    }

    private boolean onPosted(final boolean accepted, final long tag) {
        if (!accepted) {
            owner.fail("the send queue is full");
            return false;
        }
        final int last = first + underWay;
        tags[last < tags.length ? last : last - tags.length] = tag;
        underWay++;
        return true;
    }

    /** Number of operations without a handled completion. */
    int underWay() {
        return underWay;
    }

    /** As {@link SendingSide#progress}: a number that changes with each operation that is posted or completes. */
    long progress() {
        return 31 * completed + underWay;
    }

    /** Reports the end of the first operation under way. */
    void onCompleted(final int status) {
        final long tag = tags[first];
        first = first + 1 == tags.length ? 0 : first + 1;
        underWay--;
        completed++;
        try {
            listener.onOperationCompleted(owner, tag, status);
        } catch (final Throwable failure) {
            owner.poller().onListenerException(failure);
        }
    }

    /** Reports the end of all operations under way: the queue pair is closed, and their completions are not polled any more. */
    void onAbandoned(final int status) {
        while (underWay > 0) {
            onCompleted(status);
        }
    }
}
