package io.ringpoll.ratis;

import java.util.ArrayList;
import java.util.List;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.raftlog.RaftLogIOException;

/**
 * The short entries of the leader's log that one follower needs next, ready to be sent without access to the log. The log has a
 * lock, which is held during waits for the disk; a handler's thread, which sends the entries, must not wait for it. Threads of
 * the engine, which may wait, read the entries when they append.
 * <pre>
 *   log:  | in flight | ready | others |
 *                     ^ next          ^ end of the log
 * </pre>
 *
 * <p>Thread-safe. The lock of this object is never held during an access to the log.
 */
final class ReadyEntries {
    private static final int MAX_ENTRIES = 64;
    private static final int MAX_BYTES = 16 << 10;

    private final RaftLog log;
    /** Held while entries are read, which may take long. */
    private final Object reading = new Object();
    private final List<LogEntryProto> entries = new ArrayList<>();
    /** The entry before the first ready one; null at the beginning of the log. */
    private TermIndex previous;
    private long next;
    private int bytes;
    private boolean started;
    /** Whether the log has entries behind the ready ones that are too many, too long or not in memory. */
    private boolean incomplete;

    /** Entries to send. */
    record Batch(TermIndex previous, List<LogEntryProto> entries) {
    }

    ReadyEntries(final RaftLog log) {
        this.log = log;
    }

    /**
     * Starts after the entries of a request, and reads the following ones; may wait for the log.
     *
     * @param lastSent the last entry in flight or at the follower; null before the first entry
     */
    void startAfter(final TermIndex lastSent) {
        synchronized (reading) {
            synchronized (this) {
                clear();
                previous = lastSent;
                next = lastSent == null ? RaftLog.LEAST_VALID_LOG_INDEX : lastSent.getIndex() + 1;
                started = true;
            }
            read();
        }
    }

    /** Drops the entries; {@link #startAfter} starts again. */
    synchronized void stop() {
        clear();
        started = false;
    }

    /** Whether entries are read; otherwise the appender's own thread must start again. */
    synchronized boolean isStarted() {
        return started;
    }

    private void clear() {
        entries.clear();
        bytes = 0;
        incomplete = false;
    }

    /** Reads the entries that have been appended; may wait for the log. */
    void fill() {
        synchronized (reading) {
            read();
        }
    }

    private void read() {
        for (long index = wanted(); index >= 0 && index < log.getNextIndex(); index = wanted()) {
            add(index, shortEntry(index));
        }
    }

    /** The index of the entry to read; negative for none. */
    private synchronized long wanted() {
        return started && !incomplete ? next + entries.size() : -1;
    }

    private LogEntryProto shortEntry(final long index) {
        try {
            final LogEntryProto entry = index < log.getStartIndex() ? null : log.get(index);
            // The state machine may have part of the data.
            return entry == null || entry.getStateMachineLogEntry().hasStateMachineEntry() ? null : entry;
        } catch (final RaftLogIOException e) {
            // The appender's own thread reads it again, and fails with this exception.
            return null;
        }
    }

    private synchronized void add(final long index, final LogEntryProto entry) {
        if (wanted() != index) {
            // Stopped meanwhile, or the ready ones have been taken.
            return;
        }
        final int length = entry == null ? 0 : entry.getSerializedSize();
        if (entry == null || entries.size() == MAX_ENTRIES || bytes + length > MAX_BYTES) {
            incomplete = true;
            return;
        }
        entries.add(entry);
        bytes += length;
    }

    /** Whether there is something to send: the ready entries, or others that the appender's own thread must send. */
    synchronized boolean isPending() {
        return incomplete || !entries.isEmpty();
    }

    /**
     * Takes all entries, to be sent in one request.
     *
     * @param followerNext the index that the follower needs next
     * @return null if there are none, or if the appender's own thread must read the log
     */
    synchronized Batch take(final long followerNext) {
        if (!started || incomplete || entries.isEmpty() || followerNext != next) {
            return null;
        }
        final Batch batch = new Batch(previous, List.copyOf(entries));
        next += entries.size();
        previous = TermIndex.valueOf(entries.getLast());
        clear();
        return batch;
    }
}
