package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.RdmaException;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.rc.RcUsage;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One end of a connection, with the work requests of its send side and of its receive side.
 *
 * <p>Any thread may post, but only one at a time to each side.
 *
 * <pre>
 *   wr_id:   number of the endpoint 16 | receive 1 | index 47
 * </pre>
 */
final class EndpointState implements AutoCloseable {
    private static final int NUMBER_SHIFT = 48;
    private static final long RECEIVE_BIT = 1L << 47;
    private static final int MEMORY_BYTES = 4096;
    private static final int MESSAGE_BYTES = 64;
    private static final int MOST_WORK_REQUESTS = 1 << 16;

    private final int number;
    private final Link link;
    private final Room room;
    private final Violations violations;
    private final RcPeer peer;
    private final RcMemory memory;
    private final Ledger sends;
    private final Ledger receives;
    private final ReentrantLock sendSide = new ReentrantLock();
    private final ReentrantLock receiveSide = new ReentrantLock();
    /** Receives for messages of the peer. */
    private final AtomicInteger credits = new AtomicInteger();
    private RcConnection connection;
    private RcRemoteMemory remote;
    private EndpointState other;
    private volatile boolean closing;

    EndpointState(final int number, final Link link, final RcPeer peer, final Room room, final Violations violations) {
        this.number = number;
        this.link = link;
        this.room = room;
        this.violations = violations;
        this.peer = peer;
        this.memory = peer.allocate(MEMORY_BYTES, RcUsage.values());
        this.sends = new Ledger("send side of endpoint " + number, MOST_WORK_REQUESTS, violations);
        this.receives = new Ledger("receive side of endpoint " + number, MOST_WORK_REQUESTS, violations);
    }

    void connected(final RcConnection established, final byte[] descriptorOfOther) {
        connection = established;
        remote = peer.remote(descriptorOfOther);
    }

    void linkedTo(final EndpointState otherEndpoint) {
        other = otherEndpoint;
    }

    int number() {
        return number;
    }

    RcConnection connection() {
        return connection;
    }

    byte[] descriptor() {
        return memory.descriptor();
    }

    Link link() {
        return link;
    }

    /** Posts some work requests to both sides; any thread. */
    void feed(final SplittableRandom random) {
        for (int i = random.nextInt(room.depth() + 1); i >= 0; i--) {
            postReceive();
            postSend(random.nextInt(3));
        }
    }

    /** Posts as much as a completion has made room for; any thread. */
    void repost(final CompletionPath path, final SplittableRandom random) {
        if (path == CompletionPath.RECEIVE) {
            postReceive();
        } else if (path == CompletionPath.SEND_WRITE) {
            postSend(random.nextInt(3));
        }
    }

    private void postReceive() {
        if (closing || link.isBroken() || !receives.hasRoom() || !receiveSide.tryLock()) {
            return;
        }
        try {
            if (link.isBroken() && !link.flushesLateReceives()) {
                return;
            }
            final int open = receives.open();
            final int sendsEnded = sends.ended();
            final boolean accepted = connection.receive(memory, 0, MESSAGE_BYTES, id(receives.next()) | RECEIVE_BIT);
            judge(accepted, open, sends.mostOpenSince(sendsEnded), receives, "receive");
            if (accepted) {
                credits.incrementAndGet();
            }
        } catch (final IllegalStateException | RdmaException failed) {
            judge("receive", failed);
        } finally {
            receiveSide.unlock();
        }
    }

    private void postSend(final int kind) {
        if (closing || link.isBroken() || !sends.hasRoom() || !sendSide.tryLock()) {
            return;
        }
        try {
            final int open = sends.open();
            final int receivesEnded = receives.ended();
            final long id = id(sends.next());
            final boolean message = kind == 0 && other.takeCredit();
            final boolean accepted;
            if (message) {
                accepted = connection.send(memory, 0, MESSAGE_BYTES, true, id);
            } else if (kind == 1) {
                accepted = connection.read(memory, 0, remote, 0, MESSAGE_BYTES, true, id);
            } else {
                accepted = connection.write(remote, 0, memory, 0, MESSAGE_BYTES, true, id);
            }
            if (message && !accepted) {
                other.credits.incrementAndGet();
            }
            judge(accepted, open, receives.mostOpenSince(receivesEnded), sends, "send");
        } catch (final IllegalStateException | RdmaException failed) {
            judge("send", failed);
        } finally {
            sendSide.unlock();
        }
    }

    /** Returns when no thread is posting a receive; for a link that has been broken, so that no further one is posted. */
    void awaitReceive() {
        receiveSide.lock();
        receiveSide.unlock();
    }

    /** Held by a thread that is posting a receive. */
    ReentrantLock receiveSide() {
        return receiveSide;
    }

    private boolean takeCredit() {
        return credits.getAndUpdate(count -> Math.max(0, count - 1)) > 0;
    }

    private void judge(
        final boolean accepted, final int open, final int openOfOther, final Ledger ledger, final String what) {
        if (accepted) {
            ledger.onAccepted();
        } else if (room.isCertain(open, openOfOther) && !link.isBroken() && !closing) {
            violations.add("a " + what + " of endpoint " + number + " was refused with " + open + " of " + room.depth() +
                " open, and at most " + openOfOther + " of the other side, on " + Thread.currentThread().getName());
        }
    }

    private void judge(final String what, final RuntimeException failed) {
        if (!link.isBroken() && !closing) {
            violations.unexpected("a " + what + " of endpoint " + number, failed);
        }
    }

    private long id(final int index) {
        return (long) number << NUMBER_SHIFT | index;
    }

    void onCompletion(final WorkCompletion completion, final CompletionPath path, final String where) {
        final boolean receive = (completion.workRequestId() & RECEIVE_BIT) != 0;
        final int index = (int) completion.workRequestId();
        (receive ? receives : sends).onEnded(index, path, where);
        violations.expect(path == CompletionPath.ERROR || receive == (path == CompletionPath.RECEIVE),
            "endpoint " + number + ": " + (receive ? "receive " : "send ") + index + " ended on " + path + " at " + where);
        if (path == CompletionPath.ERROR && !link.isBroken()) {
            violations.add("endpoint " + number + ": " + (receive ? "receive " : "send ") + index + " failed with status " +
                completion.status() + " although nobody broke the connection");
        }
    }

    /** Accepted work requests without a completion; without those of a closed connection. */
    long missing() {
        return closing ? 0 : sends.open() + receives.open();
    }

    String describeMissing() {
        return sends.open() + " sends, " + receives.open() + " receives of endpoint " + number;
    }

    long ended() {
        return sends.ended() + receives.ended();
    }

    /** Closes the connection, possibly during use by other threads; fails if it has dependents. */
    void closeEarly() {
        link.breaking();
        closing = true;
        try {
            connection.close();
        } catch (final IllegalStateException stillNeeded) {
            // Its queue is in an event-driven pipeline; the end of the scene closes it.
        }
    }

    @Override
    public void close() {
        if (remote != null) {
            remote.close();
        }
        if (connection != null) {
            connection.close();
        }
        memory.close();
    }
}
