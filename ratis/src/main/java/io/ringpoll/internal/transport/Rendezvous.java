package io.ringpoll.internal.transport;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.transport.PeerCounters.Figure;
import io.ringpoll.internal.transport.TransportCounters.Count;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.agrona.CloseHelper;

/**
 * The long messages of one connection: those that the peer will read from here, and those being read from the peer.
 *
 * <p>Guarded by the lock of the link.
 */
final class Rendezvous {
    /** Maximum number of messages per peer that are being read, or have been read and wait for their delivery. */
    static final int MAX_LANDINGS = 4;
    /** In frames without a region. */
    static final int NO_REGION = 0;

    private final Link link;
    private final Node node;
    private final RcConnection connection;
    private final Map<Integer, Advertised> advertised = new HashMap<>();
    /** In the order of their reads, which is that of the completions. */
    private final ArrayDeque<Landing> reading = new ArrayDeque<>();
    private final ArrayDeque<Announced> announced = new ArrayDeque<>();
    private final ArrayDeque<Landing> unposted = new ArrayDeque<>();
    private final RemoteRegions remotes;
    private int nextAdvertised = 1;
    /** Number of messages of which the read has started, but not the delivery. */
    private int undelivered;
    private boolean closed;

    /** A message in a region that the peer reads, with the ticket of the request that it answers, or null. */
    private record Advertised(RegionPool.Lease lease, Intake.Ticket ticket) {
        /** Ends the request: its reply occupies no more memory. */
        void end() {
            if (ticket != null) {
                ticket.end();
            }
        }
    }

    /** A message that is not being read yet. */
    private record Announced(Incoming frame, ReorderBuffer.Place<Incoming> place) {
    }

    Rendezvous(final Link link, final Node node, final RcConnection connection) {
        this.link = link;
        this.node = node;
        this.connection = connection;
        remotes = new RemoteRegions(node.peer());
    }

    /**
     * Registers a region that is advertised to the peer; called with the lock held.
     *
     * @param ticket of the request that the message answers, which ends with the release of the region; or null
     * @return its number: not 0, and not that of a region that the peer has not released; after 2^32 regions they repeat
     */
    int advertise(final RegionPool.Lease lease, final Intake.Ticket ticket) {
        final Advertised region = new Advertised(lease, ticket);
        int number;
        do {
            number = nextAdvertised++;
        } while (number == NO_REGION || advertised.putIfAbsent(number, region) != null);
        return number;
    }

    /** Lets the numbers continue with another one; for tests. */
    void continueWith(final int number) {
        nextAdvertised = number;
    }

    /** Unregisters a region that was not advertised after all; called with the lock held. */
    void withdraw(final int number) {
        advertised.remove(number);
    }

    private void count(final int registeredBytes) {
        link.peer().add(Figure.REGISTERED_BYTES, registeredBytes);
    }

    /** Called when the peer has read a region. */
    void onReleased(final long number) throws ProtocolException {
        final Advertised released;
        synchronized (link) {
            released = number == (int) number ? advertised.remove((int) number) : null;
            if (released != null) {
                released.end();
            }
        }
        if (released == null) {
            throw new ProtocolException("the release of region " + number + ", which was not advertised");
        }
        count(-released.lease().capacityBytes());
        released.lease().release();
        if (released.ticket() != null) {
            link.tryReturnCredits();
        }
    }

    /** Reads a message that the peer has advertised, when memory and queue permit; called with the lock held. */
    void fetch(final Incoming frame, final ReorderBuffer.Place<Incoming> place) throws IOException {
        announced.addLast(new Announced(frame, place));
        startNext();
    }

    /** Called with the lock held when a message leaves for its delivery: reads the next one instead. */
    void onDelivery() throws IOException {
        undelivered--;
        startNext();
    }

    /** Reads further messages, as far as the bounds of the link and the node permit; called with the lock held. */
    void startNext() throws IOException {
        while (undelivered < MAX_LANDINGS && !announced.isEmpty() && link.admits(announced.peekFirst().frame().header()) &&
            node.admission().land(announced.peekFirst().frame().header().messageLength())) {
            final Announced next = announced.removeFirst();
            undelivered++;
            try {
                start(next);
            } catch (final IOException | RuntimeException | Error failure) {
                node.admission().landed(next.frame().header().messageLength());
                throw failure;
            }
        }
    }

    private void start(final Announced next) throws IOException {
        final Incoming frame = next.frame();
        final int length = frame.header().messageLength();
        final RcRemoteMemory remote;
        try {
            remote = remotes.of(frame.advertisement().descriptor());
        } catch (final RdmaException | IllegalArgumentException e) {
            throw new ProtocolException("an invalid region descriptor: " + e.getMessage(), e);
        }
        final long offset = frame.advertisement().offset();
        if (length == 0 || offset < 0 || offset > remote.lengthBytes() - length) {
            throw new ProtocolException("a message of " + length + " bytes at " + offset + " of a region of " +
                remote.lengthBytes());
        }
        if (length <= LongMessageThreads.INLINE_BYTES) {
            read(Landing.take(frame, next.place(), memory(frame), remote));
            return;
        }
        final Landing landing = frame.isPacket() ? Landing.takeUnused(frame, next.place(), memory(frame), remote) : null;
        if (landing == null) {
            link.later(() -> land(next, remote));
        } else {
            read(landing);
        }
    }

    private RegionPool memory(final Incoming frame) throws ProtocolException {
        return frame.isPacket() ? node.streamMemory() : node.landing();
    }

    /** Takes the memory for a message of any length, which may take long; without the lock. */
    private void land(final Announced next, final RcRemoteMemory remote) throws ProtocolException {
        boolean isRead = false;
        try {
            synchronized (link) {
                if (closed) {
                    return;
                }
            }
            final Landing landing = Landing.take(next.frame(), next.place(), memory(next.frame()), remote);
            synchronized (link) {
                if (closed) {
                    landing.close();
                } else {
                    read(landing);
                    isRead = true;
                }
            }
        } finally {
            if (!isRead) {
                node.admission().landed(next.frame().header().messageLength());
            }
        }
    }

    private void read(final Landing landing) {
        count(landing.registeredBytes());
        try {
            post(landing);
        } catch (final RuntimeException | Error failure) {
            unposted.remove(landing);
            count(-landing.registeredBytes());
            landing.close();
            throw failure;
        }
    }

    private void post(final Landing landing) {
        boolean posted = false;
        try {
            posted = landing.post(connection, link.sends().operationId());
        } finally {
            (posted ? reading : unposted).addLast(landing);
        }
    }

    /** Posts reads for which the queue was full; called with the lock held. */
    void postWaiting() {
        for (int i = unposted.size(); i > 0; i--) {
            post(unposted.removeFirst());
        }
    }

    /** Called when the first read has completed. */
    void onRead() throws IOException {
        final Landing landing;
        synchronized (link) {
            // From here on owned by one thread: the end of the link releases the landings that are still in the queues.
            landing = reading.pollFirst();
            if (landing == null) {
                return;
            }
            if (!landing.onRead()) {
                post(landing);
                return;
            }
        }
        if (landing.isLong()) {
            link.later(() -> deliver(landing));
        } else {
            deliver(landing);
        }
    }

    private void deliver(final Landing landing) throws IOException {
        final Incoming message;
        try {
            message = landing.decode();
        } finally {
            release(landing);
        }
        node.counters().increment(Count.RENDEZVOUS_RECEIVED);
        link.onLanded(landing.advertised(), landing.place(), message);
    }

    private void release(final Landing landing) {
        count(-landing.registeredBytes());
        landing.close();
        node.admission().landed(landing.lengthBytes());
    }

    /** The number of the peer's regions that are kept for further messages in them. */
    int keptRegions() {
        synchronized (link) {
            return remotes.size();
        }
    }

    /** Releases everything; after the connection has been closed, so that neither side's device accesses the memory. */
    void close() {
        synchronized (link) {
            closed = true;
            final List<AutoCloseable> memory = new ArrayList<>();
            advertised.values().forEach(unread -> {
                unread.end();
                count(-unread.lease().capacityBytes());
                memory.add(unread.lease()::release);
            });
            reading.forEach(landing -> memory.add(() -> release(landing)));
            unposted.forEach(landing -> memory.add(() -> release(landing)));
            memory.add(remotes);
            advertised.clear();
            reading.clear();
            announced.clear();
            unposted.clear();
            // Each one, also if another fails.
            CloseHelper.closeAll(memory);
        }
    }
}
