package io.ringpoll.bench.replicate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.RaftServerConfigKeys.Log.CorruptionPolicy;
import org.apache.ratis.server.raftlog.segmented.LogSegment;
import org.apache.ratis.server.raftlog.segmented.LogSegmentPath;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.SizeInBytes;

/**
 * The log of a server in its folder, read by the reader of the engine.
 *
 * @param folder  folder of the server
 * @param entries by index, from the first on
 */
record StoredLog(Path folder, List<Entry> entries) {
    private static final String METADATA = "raft-meta";
    private static final SizeInBytes LONGEST_ENTRY = SizeInBytes.valueOf("64MB");

    /**
     * An entry.
     *
     * @param term   term of the leader that wrote it
     * @param record the bytes that a client has appended; null for an entry of the engine
     */
    record Entry(long term, ByteString record) {
    }

    /**
     * Reads a log; an incomplete entry at the end is ignored.
     *
     * @throws IOException if no server has ever used the folder, or the log does not begin with its first entry
     */
    static StoredLog read(final Path folder) throws IOException {
        final List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.toList();
        }
        if (files.stream().noneMatch(file -> file.endsWith(METADATA))) {
            throw new IOException(folder + " is no folder of a server: there is no " + METADATA + " in it");
        }
        final List<LogSegmentPath> segments = new ArrayList<>();
        files.stream().map(LogSegmentPath::matchLogSegment).filter(segment -> segment != null).forEach(segments::add);
        segments.sort(Comparator.comparing(LogSegmentPath::getStartEnd));
        final StoredLog log = new StoredLog(folder, new ArrayList<>());
        for (final LogSegmentPath segment : segments) {
            LogSegment.readSegmentFile(segment.getPath().toFile(), segment.getStartEnd(), LONGEST_ENTRY,
                CorruptionPolicy.WARN_AND_RETURN, null, log::add);
        }
        return log;
    }

    private void add(final LogEntryProto entry) {
        if (entry.getIndex() != entries.size()) {
            throw new IllegalStateException(folder + ": entry " + entry.getIndex() + " follows " + entries.size() +
                " entries");
        }
        entries.add(new Entry(entry.getTerm(),
            entry.hasStateMachineLogEntry() ? entry.getStateMachineLogEntry().getLogData() : null));
    }

    /** Whether both logs have the same entry at an index. */
    boolean agreesWith(final StoredLog other, final int index) {
        return index < entries.size() && index < other.entries.size() &&
            entries.get(index).equals(other.entries.get(index));
    }
}
