package io.ringpoll.verify.torture.connections;

import io.ringpoll.connections.DisconnectReason;
import io.ringpoll.connections.MessageConnection;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One side of a connection: sends its sequence of messages, checks the sequence of the other side, and plays with retention,
 * refusals, claims, exceptions and ends.
 *
 * <p>Belongs to the polling thread of its connection; other threads read the counts, which are written by that thread only.
 */
final class Side {
    /** Fewest handled messages whose receives are posted again while the peer has credits; fewer wait. */
    static final int MOST_RECEIVES_OF_POST = 4;
    private static final long NONE = -1;
    private static final int RELEASE_AT_ONCE_ONE_IN = 8;
    private static final int ABORT_ONE_IN = 8;
    private static final long LONGEST_NS = TimeUnit.MILLISECONDS.toNanos(2);

    private final World world;
    private final ConnectionShape shape;
    private final SetUnderTest set;
    private final MessageConnection connection;
    private final long number;
    private final boolean raw;
    private final boolean answering;
    private final SplittableRandom random;
    private final Violations violations;
    private final SideOperations operations;
    private final AtomicInteger chores = new AtomicInteger();
    private volatile long toSend;
    private volatile long sent;
    /** Messages that were committed while the connection was being closed: sent or dropped. */
    private volatile int doubtful;
    private volatile long received;
    private volatile long peer;
    private volatile boolean closed;
    private volatile boolean refusing;
    private volatile boolean connectedReturned;
    private volatile DisconnectReason reason;
    private volatile long probe = NONE;
    private volatile boolean probed;
    /** Polling thread; read by the scene after {@link #probed}, as the following. */
    private boolean hasWholeWindow;
    private volatile Thread inside;
    private Thread owner;
    private boolean refused;
    private boolean closedByOwner;
    private int heldClaim = -1;

    Side(final World world, final SetUnderTest set, final MessageConnection connection) {
        this.world = world;
        this.set = set;
        this.connection = connection;
        shape = world.shape();
        violations = world.violations();
        number = world.nextNumber();
        random = world.random(number);
        raw = VanishingPeer.isIt(connection.peerData());
        answering = oneIn(shape.answering());
        toSend = raw ? 0 : random.nextInt(shape.messages() + 1);
        operations = new SideOperations(this, set, random.nextInt(2 * shape.messages() + 1), random.split(), violations);
    }

    /** Number from 1, unique in the scene. */
    long number() {
        return number;
    }

    SetUnderTest set() {
        return set;
    }

    MessageConnection connection() {
        return connection;
    }

    /** Whether the other side is a peer that vanishes. */
    boolean isRaw() {
        return raw;
    }

    /** Number of the other side; 0 until its first message. */
    long peer() {
        return peer;
    }

    SideOperations operations() {
        return operations;
    }

    long sent() {
        return sent;
    }

    int doubtful() {
        return doubtful;
    }

    long received() {
        return received;
    }

    /** Whether the last message was refused and has not been delivered again. */
    boolean isRefusing() {
        return refusing;
    }

    /** Whether all messages have been sent. */
    boolean hasSent() {
        return sent >= toSend;
    }

    /** Whether this side was closed by a call. */
    boolean isClosed() {
        return closed || set.isClosing();
    }

    /** Reason of the end; null before {@code onDisconnected}. */
    DisconnectReason reason() {
        return reason;
    }

    /** Whether {@code onConnected} has returned. */
    boolean isConnectedReturned() {
        return connectedReturned;
    }

    boolean hasChores() {
        return chores.get() > 0;
    }

    /** Closes the connection; any thread. */
    void close() {
        closed = true;
        connection.close();
        if (Thread.currentThread() == owner) {
            closedByOwner = true;
        }
    }

    /** Executes a task on the polling thread; any thread. */
    boolean execute(final Runnable task) {
        return set.execute(connection, task);
    }

    private void chore(final Runnable work) {
        chores.incrementAndGet();
        world.chores().add(new Chore(this, work));
    }

    void onChoreDone() {
        chores.decrementAndGet();
    }

    // Callbacks

    void onConnected() throws Planned {
        enter("onConnected");
        try {
            violations.expect(reason == null && !connectedReturned, this + ": onConnected after another callback");
            final int credits = connection.credits();
            violations.expect(credits > 0 && credits <= set.shape().window(), this + ": " + credits + " credits at the begin");
            resend();
            play();
        } finally {
            connectedReturned = true;
            leave();
        }
    }

    boolean onMessage(final DirectBuffer buffer, final int offset, final int length) throws Planned {
        enter("onMessage");
        try {
            violations.expect(connectedReturned && reason == null, this + ": onMessage outside of the connection's life");
            violations.expect(!closedByOwner, this + ": onMessage after its close on its thread");
            if (raw) {
                received++;
                return true;
            }
            check(received, buffer, offset, length);
            if (received == probe) {
                final int windowOfPeer = world.sides().get(peer).set.shape().window();
                final int window = Math.min(set.shape().window(), windowOfPeer);
                // The peer also posts when it holds as many credits as this side has left.
                final int waiting =
                    Math.min(Math.min(MOST_RECEIVES_OF_POST, Math.max(1, windowOfPeer / 4)), (window + 1) / 2) - 1;
                final int credits = connection.credits();
                violations.expect(credits <= window && credits >= window - waiting, this + ": " + credits + " credits of " +
                    window + " when each message has been handled and each credit returned but those of " + waiting);
                hasWholeWindow |= credits >= window - 1;
                probed = true;
            }
            return handle(buffer, offset, length);
        } finally {
            leave();
        }
    }

    private void check(final long sequence, final DirectBuffer buffer, final int offset, final int length) {
        if (sequence == 0) {
            final long sender = Content.sideOf(buffer, offset, length);
            violations.expect(world.sides().containsKey(sender),
                this + ": the first message, of " + length + " bytes, is not the first of any side");
            peer = sender;
        }
        violations.expect(Content.isRight(peer, sequence, connection.maxMessageBytes(), buffer, offset, length),
            this + ": message " + sequence + " of " + length + " bytes is not what side " + peer + " has sent");
        operations.checkWritten(world.sides().get(peer).operations, sequence);
    }

    private boolean handle(final DirectBuffer buffer, final int offset, final int length) throws Planned {
        final long sequence = received;
        if (!world.isCalm() && oneIn(shape.refusing())) {
            refusing = true;
            chore(connection::resume);
            return false;
        }
        if (answering && sent < toSend && !send(1) && !world.isCalm() && heldClaim < 0 && connection.isConnected()) {
            // The answer has no credit: the message is delivered again when there is one.
            refusing = true;
            return false;
        }
        refusing = false;
        if (!world.isCalm() && oneIn(shape.retaining())) {
            final long handle = connection.retain();
            if (random.nextInt(RELEASE_AT_ONCE_ONE_IN) != 0) {
                received = sequence + 1;
                chore(() -> {
                    check(sequence, buffer, offset, length);
                    connection.release(handle);
                });
                // The result of a retained message does not count.
                return random.nextBoolean();
            }
            connection.release(handle);
            check(sequence, buffer, offset, length);
        }
        received = sequence + 1;
        play();
        return true;
    }

    void onDrained() throws Planned {
        enter("onDrained");
        try {
            violations.expect(connectedReturned && reason == null, this + ": onDrained outside of the connection's life");
            violations.expect(refused, this + ": onDrained without a refusal");
            violations.expect(connection.credits() > 0, this + ": onDrained without a credit");
            refused = false;
            final long before = sent;
            final boolean isOpen = connection.isConnected() && heldClaim < 0 && before < toSend;
            resend();
            violations.expect(!isOpen || sent > before || heldClaim >= 0 || !connection.isConnected(),
                this + ": onDrained without room for a message");
            play();
        } finally {
            leave();
        }
    }

    void onOperationCompleted(final long tag, final int status) throws Planned {
        enter("onOperationCompleted");
        try {
            violations.expect(connectedReturned && reason == null, this + ": onOperationCompleted outside of its life");
            operations.onCompleted(tag, status);
            operate();
            play();
        } finally {
            leave();
        }
    }

    void onDisconnected(final DisconnectReason why) throws Planned {
        enter("onDisconnected");
        try {
            violations.expect(operations.underWay() == 0, this + ": onDisconnected before the end of all operations");
            violations.expect(connectedReturned, this + ": onDisconnected before onConnected");
            violations.expect(reason == null, this + ": onDisconnected twice");
            violations.expect(!connection.isConnected(), this + ": is connected in onDisconnected");
            violations.expect(heldClaim >= 0 || connection.tryClaim(0) == MessageConnection.NOT_CONNECTED,
                this + ": a claim in onDisconnected");
            reason = why;
            if (!world.isCalm() && oneIn(shape.throwing())) {
                throw set.planned();
            }
        } finally {
            leave();
        }
    }

    private void enter(final String callback) {
        final Thread current = Thread.currentThread();
        final Thread other = inside;
        violations.expect(other == null, this + ": " + callback + " on " + current.getName() + " within a callback on " + other);
        inside = current;
        violations.expect(owner == null || owner == current || set.isClosing(),
            this + ": " + callback + " on " + current.getName() + " instead of " + owner);
        owner = current;
    }

    private void leave() {
        inside = null;
    }

    /** Is slow, closes, throws. */
    private void play() throws Planned {
        if (world.isCalm()) {
            return;
        }
        if (oneIn(shape.slow())) {
            LockSupport.parkNanos(random.nextLong(LONGEST_NS));
        }
        if (oneIn(shape.closing())) {
            close();
        }
        set.playEnd();
        if (oneIn(shape.throwing())) {
            throw set.planned();
        }
    }

    private boolean oneIn(final int times) {
        return times > 0 && random.nextInt(times) == 0;
    }

    // Sending

    /** Sends a series of messages. */
    void sendMore(final int messages) {
        if (!raw) {
            toSend = Math.max(toSend, sent + heldMessages()) + messages;
            send(Long.MAX_VALUE);
        }
    }

    private int heldMessages() {
        return heldClaim < 0 ? 0 : 1;
    }

    /** Sends at the begin and after a refusal: answers wait for their messages, except at the end. */
    private void resend() {
        send(answering && !world.isCalm() ? 1 : Long.MAX_VALUE);
    }

    /** Sends the rest of the sequence; polling thread. */
    void sendRest() {
        send(Long.MAX_VALUE);
    }

    /** Takes a refused message, which may wait for a credit that the other side returns for one that waits there. */
    void rest() {
        connection.resume();
        send(Long.MAX_VALUE);
    }

    /** Sends the next messages; false if one was refused or a claim is open. */
    private boolean send(final long most) {
        for (long i = 0; i < most && sent < toSend; i++) {
            if (!sendNext()) {
                return false;
            }
        }
        return true;
    }

    /** Posts one-sided operations. */
    private void operate() {
        if (!world.isCalm() && peer > 0) {
            operations.post(world.sides().get(peer));
        }
    }

    private boolean sendNext() {
        operate();
        if (heldClaim >= 0 || doubtful > 0) {
            return false;
        }
        operations.beforeMessage(sent);
        final int length = Content.length(number, sent, connection.maxMessageBytes());
        return random.nextBoolean() ? copyNext(length) : claimNext(length);
    }

    private boolean copyNext(final int length) {
        final UnsafeBuffer message = new UnsafeBuffer(new byte[length]);
        Content.write(number, sent, message, 0, length);
        if (connection.trySend(message, 0, length)) {
            sent++;
            return true;
        }
        refused = true;
        return false;
    }

    private boolean claimNext(final int length) {
        final int index = connection.tryClaim(length);
        if (index < 0) {
            refused |= index == MessageConnection.NO_CREDIT;
            return false;
        }
        Content.write(number, sent, connection.buffer(), index, length);
        if (!world.isCalm() && oneIn(shape.holding())) {
            heldClaim = index;
            chore(this::endClaim);
            return false;
        }
        connection.commit(index);
        sent++;
        return true;
    }

    private void endClaim() {
        final int index = heldClaim;
        heldClaim = -1;
        if (random.nextInt(ABORT_ONE_IN) == 0) {
            connection.abort(index);
        } else {
            final boolean isSent = connection.isConnected();
            connection.commit(index);
            if (isSent) {
                sent++;
            } else if (reason == null) {
                doubtful++;
            }
        }
        resend();
    }

    // Probes of the credits

    /** Expects the next message to look at the credits; while nothing is sent. */
    void expectProbe() {
        probed = false;
        probe = received;
    }

    /** Whether an expected message has found all credits returned, except that of one message that waits for the next. */
    boolean hasWholeWindow() {
        return hasWholeWindow;
    }

    /** Expects that one has. */
    void requireWholeWindow() {
        violations.expect(hasWholeWindow, this + ": more than one credit is missing at rest");
    }

    /** Whether the expected message has been received. */
    boolean isProbed() {
        return probed;
    }

    @Override
    public String toString() {
        return "side " + number + " (" + set.name() + ", " + connection + ", peer " + peer + ", sent " +
            sent + "/" + toSend + ", received " + received + (refusing ? ", refusing" : "") + (refused ? ", refused" : "") +
            (closed ? ", closed" : "") + ", " + operations + ", chores " + chores +
            (reason == null ? "" : ", " + reason + " " + detail()) + ")";
    }

    private String detail() {
        return connection.disconnectDetail();
    }
}
