package io.ringpoll.verify.torture.connections;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.connections.MessageConnection;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The one-sided operations of a side: it writes growing numbers to the word of the other side, and reads that word.
 *
 * <p>A message is delivered after the writes before it. A read returns a number that was not written before the last write
 * before the read, and not after the completion. Each operation ends once, in order; after a failure none is successful.
 *
 * <p>Belongs to the polling thread of the connection; other threads read the counts, which are written by that thread only.
 */
final class SideOperations {
    private static final int MESSAGES = 512;
    private static final int POST_MORE_ONE_IN = 3;

    private final Side side;
    private final MessageConnection connection;
    private final SharedMemory memory;
    private final int most;
    private final SplittableRandom random;
    private final Violations violations;
    private final int total;
    /** By message: number of writes before it; the receiver compares. */
    private final AtomicLongArray writesBefore;
    /** By operation modulo their maximum: the least number that a read returns, or -1 for a write. */
    private final long[] leastRead;
    private long written;
    private boolean failed;
    private volatile long posted;
    private volatile long completed;

    SideOperations(final Side side, final SetUnderTest set, final int total, final SplittableRandom random,
        final Violations violations) {
        this.side = side;
        this.total = total;
        this.random = random;
        this.violations = violations;
        connection = side.connection();
        memory = set.memory();
        most = set.shape().operations();
        leastRead = new long[most];
        writesBefore = new AtomicLongArray(most == 0 ? 0 : MESSAGES);
    }

    /** Number of accepted operations without a callback. */
    long underWay() {
        return posted - completed;
    }

    /** Number of operations that have ended. */
    long completed() {
        return completed;
    }

    /** Posts some operations, if the other side is known and has memory for them. */
    void post(final Side peer) {
        if (most == 0 || peer == null || peer.set().memory() == null || !SharedMemory.hasWords(side.number()) ||
            !SharedMemory.hasWords(peer.number())) {
            return;
        }
        while (posted < total && random.nextInt(POST_MORE_ONE_IN) != 0 && postNext(peer)) {
            posted++;
        }
    }

    private boolean postNext(final Side peer) {
        final int place = (int) (posted % most);
        final boolean isFull = underWay() == most;
        final boolean isAccepted = random.nextBoolean() ? write(peer, place, isFull) : read(peer, place);
        violations.expect(isAccepted ? !isFull : isFull || !connection.isConnected(),
            side + ": an operation was " + (isAccepted ? "accepted" : "refused") + " with " + underWay() + " of " + most +
                " under way");
        return isAccepted;
    }

    private boolean write(final Side peer, final int place, final boolean isFull) {
        final int source = SharedMemory.source(side.number(), place);
        if (!isFull) {
            memory.put(source, written + 1);
        }
        if (!memory.tryWrite(connection, peer.set().memory(), SharedMemory.word(peer.number()), source, Long.BYTES,
            tag(posted))) {
            return false;
        }
        written++;
        leastRead[place] = -1;
        return true;
    }

    private boolean read(final Side peer, final int place) {
        if (!memory.tryRead(connection, SharedMemory.destination(side.number(), place), peer.set().memory(),
            SharedMemory.word(peer.number()), Long.BYTES, tag(posted))) {
            return false;
        }
        leastRead[place] = written;
        return true;
    }

    /** All 64 bits are the user's. */
    private long tag(final long operation) {
        return side.number() << Integer.SIZE ^ -1L - operation;
    }

    /** Checks the end of an operation. */
    void onCompleted(final long tag, final int status) {
        violations.expect(underWay() > 0, side + ": the end of an operation, and none is under way");
        violations.expect(tag == tag(completed), side + ": operation " + Long.toHexString(tag) + " ends instead of number " +
            completed);
        final boolean isSuccess = status == WcStatus.SUCCESS;
        violations.expect(isSuccess ? !failed : !connection.isConnected(),
            side + ": an operation with " + WcStatus.name(status) + " after " + completed);
        failed |= !isSuccess;
        final int place = (int) (completed % most);
        if (isSuccess && leastRead[place] >= 0) {
            final long read = memory.get(SharedMemory.destination(side.number(), place));
            violations.expect(read >= leastRead[place] && read <= written,
                side + ": has read " + read + ", but wrote " + leastRead[place] + " before, and now " + written);
        }
        completed++;
    }

    /** The next message follows all writes so far. */
    void beforeMessage(final long sequence) {
        if (sequence < writesBefore.length()) {
            writesBefore.set((int) sequence, written);
        }
    }

    /** Checks that all writes before a message of the other side have been executed. */
    void checkWritten(final SideOperations peer, final long sequence) {
        if (memory == null || !SharedMemory.hasWords(side.number()) || sequence >= peer.writesBefore.length()) {
            return;
        }
        final long before = peer.writesBefore.get((int) sequence);
        final long seen = memory.get(SharedMemory.word(side.number()));
        violations.expect(seen >= before,
            side + ": message " + sequence + " was delivered after write " + seen + ", and sent after write " + before);
    }

    @Override
    public String toString() {
        return "operations " + completed + '/' + posted;
    }
}
