package io.ringpoll.bench.replicate;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads the logs of stopped servers and compares them with the acknowledged records. Stateless. */
public final class LogCheck {
    private LogCheck() {
    }

    /**
     * Compares.
     *
     * @param folders      folders of the servers of a group, which must be stopped
     * @param acknowledged files that clients have written
     * @param out          receives the result, a line for each log and for each fault
     * @return true if every acknowledged record is on a majority, in order, once, and intact
     * @throws IOException if a file cannot be read
     */
    public static boolean run(final List<Path> folders, final List<Path> acknowledged, final PrintWriter out)
        throws IOException {
        final List<StoredLog> logs = new ArrayList<>();
        for (final Path folder : folders) {
            logs.add(StoredLog.read(folder));
        }
        final List<NumberedRecord> noted = new ArrayList<>();
        for (final Path file : acknowledged) {
            noted.addAll(Acknowledgements.read(file));
        }
        final Verification verification = new Verification(logs);
        verification.run(noted);
        logs.forEach(log -> out.printf("%s: %d entries%n", log.folder(), log.entries().size()));
        out.printf("on a majority: %d entries, %d of them records; acknowledged records: %d; faults: %d%n",
            verification.committed(), verification.records(), noted.size(), verification.faultCount());
        verification.faults().forEach(fault -> out.println("FAULT: " + fault));
        return verification.faultCount() == 0;
    }
}
