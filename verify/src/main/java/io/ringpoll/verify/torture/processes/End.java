package io.ringpoll.verify.torture.processes;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.pipeline.PolledQueue;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.rc.RcUsage;
import io.ringpoll.verify.torture.connections.Content;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One side of a connection between processes: posts requests of all kinds, and checks each completion and each message of the
 * other side.
 *
 * <p>One thread posts; the handler of each completion queue checks. The counts are written by one thread each. The text of a
 * violation is built only when there is one: on an emulated CPU, the first use of each text takes a second.
 *
 * <pre>
 *   memory:  acknowledgement (64 bytes) | source of the other side's reads | destination of reads |
 *            sources of messages (window) | targets of the other side's writes (window) | receives
 *   wr_id:   place in the registry 16 | receive 1 | index 47
 * </pre>
 */
final class End implements AutoCloseable {
    private static final int PLACE_SHIFT = 48;
    private static final long RECEIVE_BIT = 1L << PLACE_SHIFT - 1;
    private static final int ACKNOWLEDGEMENT_BYTES = 64;
    /** The place of the bytes that the other side reads, beyond those of all messages. */
    private static final long READABLE = 1L << 40;
    private static final int FLUSH_BYTES = 8;
    /** More than a send queue has entries. */
    private static final int RECORDS = 256;

    private final Life life;
    private final int connectionIndex;
    private final long number;
    private final long numberOfOther;
    private final long idBase;
    private final Violations violations;
    private final Journal journal;
    private final SplittableRandom random;
    private final RcPeer peer;
    private final RcMemory memory;
    private final UnsafeBuffer buffer;
    private RcConnection connection;
    private RcRemoteMemory remote;

    // The posting thread.
    private final boolean[] signalled = new boolean[RECORDS];
    private final long[] messageOf = new long[RECORDS];
    private final int[] readBytesOf = new int[RECORDS];
    private long posted;
    private long receivesPosted;
    private long acknowledgementsPosted;
    private boolean written;
    private boolean isOver;
    private boolean lastPosted;
    /** One more than the index of the last request that was, or is being, posted. */
    private volatile long posting;
    private volatile long sent;
    private volatile boolean quiet;

    // The handler of sends.
    private volatile long ended;
    private volatile long messagesEnded;
    private volatile boolean reading;
    private volatile boolean failed;

    // The handler of receives.
    private volatile long receivesEnded;
    private volatile long received;
    private volatile boolean flushed;

    private long acknowledged;
    private volatile boolean mayFail;

    /**
     * Prepares a side.
     *
     * @param registry        of the process
     * @param peer            owner of the memory
     * @param life            of the peer's process
     * @param connectionIndex among those of the life
     * @param ofPeer          whether this is the peer's process, and not the survivor
     * @param journal         receives the counts; null for none
     */
    End(final Registry registry, final RcPeer peer, final Life life, final int connectionIndex, final boolean ofPeer,
        final Journal journal) {
        this.peer = peer;
        this.life = life;
        this.connectionIndex = connectionIndex;
        this.journal = journal;
        number = life.number(connectionIndex, ofPeer);
        numberOfOther = life.number(connectionIndex, !ofPeer);
        violations = registry.violations();
        random = new SplittableRandom(number);
        memory = peer.allocate(receive(life.receives()), RcUsage.values());
        memory.memory().fill((byte) 0);
        buffer = new UnsafeBuffer(memory.memory().asByteBuffer());
        Content.write(number, READABLE, buffer, ACKNOWLEDGEMENT_BYTES, life.maxBytes());
        idBase = (long) registry.add(this) << PLACE_SHIFT;
    }

    /** The place of the end to which a work request belongs. */
    static int placeOf(final long workRequestId) {
        return (int) (workRequestId >>> PLACE_SHIFT);
    }

    private long cell(final long index) {
        return ACKNOWLEDGEMENT_BYTES + index * life.cellBytes();
    }

    private long source(final long sequence) {
        return cell(2 + sequence % life.window());
    }

    private long target(final long sequence) {
        return cell(2 + life.window() + sequence % life.window());
    }

    private long receive(final long index) {
        return cell(2 + 2L * life.window() + index);
    }

    byte[] descriptor() {
        return memory.descriptor();
    }

    /** Posts all receives before the connection is established: the other side may send at once. */
    void postReceives(final RcRequest request) {
        while (receivesPosted < life.receives() && request.receive(memory, receive(receivesPosted), life.maxBytes(),
            idBase | RECEIVE_BIT | receivesPosted)) {
            receivesPosted++;
        }
    }

    void connected(final RcConnection established) {
        connection = established;
    }

    void other(final byte[] descriptor) {
        remote = peer.remote(descriptor);
    }

    RcConnection connection() {
        return connection;
    }

    List<CompletionQueue> queues() {
        return connection == null ? List.of() :
            Stream.concat(Stream.of(PolledQueue.of(connection)), PolledQueue.ofReceives(connection).stream()).toList();
    }

    // The posting thread

    /** Posts what there is room for, and takes the event of the end; false if there was nothing to do. */
    boolean step() {
        final long before = posted + receivesPosted;
        if (!isOver && connection.nextEvent(0).isPresent()) {
            if (!mayFail) {
                violations.add(this + ": disconnected, although the other process lives");
            }
            leave();
        }
        if (!isOver) {
            postReceives();
            acknowledge();
            if (!quiet) {
                postAny();
            }
        } else if (!lastPosted) {
            // Signalled: it completes after the unsignalled requests before it.
            lastPosted = postFlush(true);
        }
        return posted + receivesPosted > before;
    }

    private void postReceives() {
        while (receivesPosted < receivesEnded + life.receives() && !flushed && connection.receive(memory,
            receive(receivesPosted % life.receives()), life.maxBytes(), idBase | RECEIVE_BIT | receivesPosted)) {
            receivesPosted++;
        }
    }

    private void acknowledge() {
        final long count = received;
        if (count > acknowledgementsPosted) {
            final boolean flag = begin(0, 0, quiet);
            if (end(connection.atomicWrite(remote, 0, count, flag, idBase | posted))) {
                acknowledgementsPosted = count;
            }
        }
        final long now = buffer.getLongVolatile(0);
        if (now < acknowledged || now > sent) {
            violations.add(this + ": acknowledgement " + now + " after " + acknowledged + ", " + sent + " were sent");
        }
        acknowledged = now;
        if (journal != null) {
            journal.acknowledged(connectionIndex, now);
        }
    }

    private void postAny() {
        if (!written && !reading && random.nextInt(life.reading()) == 0) {
            postRead();
        } else if (!written && random.nextInt(life.flushing()) == 0) {
            postFlush(false);
        } else if (sent - Math.min(acknowledged, messagesEnded) < life.window()) {
            postMessage();
        }
    }

    private void postRead() {
        final int length = 1 + random.nextInt(life.maxBytes());
        reading = true;
        final boolean flag = begin(0, length, true);
        if (!end(connection.read(memory, cell(1), remote, cell(0), length, flag, idBase | posted))) {
            reading = false;
        }
    }

    private boolean postFlush(final boolean isSignalled) {
        final boolean flag = begin(0, 0, isSignalled);
        return end(connection.flush(remote, target(0), FLUSH_BYTES, flag, idBase | posted));
    }

    private void postMessage() {
        final long sequence = written ? sent : sent + 1;
        final Message message = Message.of(number, sequence, life.maxBytes());
        final long source = source(sequence);
        final int length = message.length();
        if (!written) {
            Content.write(number, sequence, buffer, (int) source, length);
            // The other process may count it before this thread continues.
            sent(sequence);
        }
        final boolean isWrite = message.kind() == Message.Kind.WRITE_THEN_SEND && !written && length > 0;
        final boolean flag = begin(isWrite ? 0 : sequence, 0, false);
        final long id = idBase | posted;
        final boolean isAccepted = end(switch (message.kind()) {
            case SEND -> connection.send(memory, source, length, flag, id);
            case SEND_WITH_IMMEDIATE -> connection.sendWithImmediate(memory, source, length, flag, message.immediate(), id);
            case WRITE_WITH_IMMEDIATE -> connection.writeWithImmediate(
                remote, target(sequence), memory, source, length, flag, message.immediate(), id);
            case WRITE_THEN_SEND -> isWrite ? connection.write(remote, target(sequence), memory, source, length, flag, id) :
                connection.send(memory, source, 0, flag, id);
        });
        if (isAccepted) {
            written = isWrite;
        } else if (!written) {
            sent(sequence - 1);
        }
    }

    private void sent(final long count) {
        sent = count;
        if (journal != null) {
            journal.sent(connectionIndex, count);
        }
    }

    private boolean begin(final long message, final int readBytes, final boolean mustSignal) {
        final int record = (int) (posted % RECORDS);
        signalled[record] = mustSignal || random.nextInt(life.unsignalled()) == 0 || posted % 3 == 0;
        messageOf[record] = message;
        readBytesOf[record] = readBytes;
        posting = posted + 1;
        return signalled[record];
    }

    private boolean end(final boolean accepted) {
        if (accepted) {
            posted++;
        } else {
            posting = posted;
        }
        return accepted;
    }

    /** Posts no new messages; all further requests are signalled. */
    void quieten() {
        if (!quiet && !written && postFlush(true)) {
            quiet = true;
        } else if (written) {
            postMessage();
        }
    }

    /** Whether everything has been done and acknowledged, after {@link #quieten}. */
    boolean isQuiet() {
        return quiet && ended == posted && acknowledged == sent && acknowledgementsPosted == received;
    }

    /** From now on failures are expected. */
    void mayFail() {
        mayFail = true;
    }

    /** Disconnects; everything is accounted for afterwards. */
    void disconnect() {
        mayFail = true;
        if (!isOver) {
            leave();
        }
    }

    private void leave() {
        isOver = true;
        connection.disconnect();
    }

    /** Whether the connection has ended. */
    boolean isOver() {
        return isOver;
    }

    /** Whether each request has its completion, after the end. */
    boolean isSettled() {
        return lastPosted && ended == posted && receivesEnded == receivesPosted;
    }

    /** A request has failed, and there was no event yet. */
    boolean hasFailed() {
        return failed || flushed;
    }

    // The handlers

    void onCompletion(final WorkCompletion completion) {
        final long index = completion.workRequestId() & RECEIVE_BIT - 1;
        if ((completion.workRequestId() & RECEIVE_BIT) == 0) {
            onSent(index, completion.status());
        } else {
            onReceived(index, completion);
        }
    }

    private void onSent(final long index, final int status) {
        if (index < ended || index >= posting) {
            violations.add(this + ": a completion of request " + index + " instead of " + ended + " to " + posting);
            return;
        }
        boolean isFailed = failed;
        for (long skipped = ended; skipped < index; skipped++) {
            if (isFailed || signalled[(int) (skipped % RECORDS)]) {
                violations.add(this + ": no completion of request " + skipped + " before that of " + index);
            }
            countMessage(skipped);
        }
        final int record = (int) (index % RECORDS);
        if (status != WcStatus.SUCCESS) {
            if (!mayFail) {
                violations.add(this + ": request " + index + " failed with " + WcStatus.name(status) +
                    ", although the other process lives");
            }
            if (isFailed && status != WcStatus.WR_FLUSH_ERR) {
                violations.add(this + ": request " + index + " after a failed one ended with " + WcStatus.name(status));
            }
            isFailed = true;
            failed = true;
        } else {
            if (isFailed) {
                violations.add(this + ": request " + index + " succeeded after a failed one");
            }
            if (!signalled[record]) {
                violations.add(this + ": request " + index + " is unsignalled, and has a completion");
            }
            if (readBytesOf[record] > 0 &&
                !Content.hasBytes(numberOfOther, READABLE, buffer, (int) cell(1), readBytesOf[record])) {
                violations.add(this + ": a read of " + readBytesOf[record] + " bytes has others");
            }
        }
        if (readBytesOf[record] > 0) {
            reading = false;
        }
        countMessage(index);
        ended = index + 1;
    }

    private void countMessage(final long index) {
        if (messageOf[(int) (index % RECORDS)] > 0) {
            messagesEnded = messageOf[(int) (index % RECORDS)];
        }
    }

    private void onReceived(final long index, final WorkCompletion completion) {
        if (index != receivesEnded) {
            violations.add(this + ": a completion of receive " + index + " instead of " + receivesEnded);
        }
        if (completion.status() != WcStatus.SUCCESS) {
            if (!mayFail || completion.status() != WcStatus.WR_FLUSH_ERR) {
                violations.add(this + ": receive " + index + " failed with " + WcStatus.name(completion.status()));
            }
            flushed = true;
        } else {
            if (flushed) {
                violations.add(this + ": receive " + index + " succeeded after a flushed one");
            }
            check(index, completion);
            received++;
            if (journal != null) {
                journal.received(connectionIndex, received);
            }
        }
        receivesEnded++;
    }

    private void check(final long index, final WorkCompletion completion) {
        final long sequence = received + 1;
        final Message message = Message.of(numberOfOther, sequence, life.maxBytes());
        final int length = message.kind() == Message.Kind.WRITE_THEN_SEND ? 0 : message.length();
        if (completion.lengthBytes() != length || completion.hasImmediate() != message.kind().hasImmediate() ||
            completion.hasImmediate() && completion.immediate() != message.immediate()) {
            violations.add(this + ": message " + sequence + " should be " + message + ", and has " +
                completion.lengthBytes() + " bytes");
        }
        final long place = message.kind().isWritten() ? target(sequence) : receive(index % life.receives());
        if (!Content.hasBytes(numberOfOther, sequence, buffer, (int) place, message.length())) {
            violations.add(this + ": message " + sequence + ", " + message + ", has other bytes");
        }
    }

    // The counts, for any thread

    /** The number of requests and receives that have ended. */
    long progress() {
        return ended + receivesEnded;
    }

    /** Checks the counts of a peer whose process has ended. */
    void compare(final Journal ofPeer, final boolean isInOrder) {
        final long sentByPeer = ofPeer.sent(connectionIndex);
        final long receivedByPeer = ofPeer.received(connectionIndex);
        violations.expect(buffer.getLongVolatile(0) <= receivedByPeer,
            this + ": " + buffer.getLongVolatile(0) + " messages are acknowledged, and " + receivedByPeer + " were received");
        violations.expect(receivedByPeer <= sent, this + ": the peer has received " + receivedByPeer + " of " + sent);
        violations.expect(ofPeer.acknowledged(connectionIndex) <= received, this + ": " +
            ofPeer.acknowledged(connectionIndex) + " messages are acknowledged to the peer, and " + received + " were received");
        violations.expect(received <= sentByPeer, this + ": received " + received + " of " + sentByPeer);
        violations.expect(!isInOrder || received == sentByPeer && receivedByPeer == sent, this + ": closed in order, with " +
            received + " of " + sentByPeer + " received and " + receivedByPeer + " of " + sent + " by the peer");
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

    @Override
    public String toString() {
        return "connection " + connectionIndex + " (" + ended + "/" + posting + " requests ended, " + receivesEnded + "/" +
            receivesPosted + " receives, " + received + " received, " + acknowledged + "/" + sent + " acknowledged" +
            (isOver ? ", over" : "") + (failed ? ", failed" : "") + ")";
    }
}
