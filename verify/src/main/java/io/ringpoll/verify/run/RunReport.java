package io.ringpoll.verify.run;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.completion.CompletionPath;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * The result of a run: the account by path, the latencies, and the allocation of the hot threads.
 *
 * @param device               the device
 * @param seconds              time from the end of the warm-up to the last completion
 * @param paths                account of each path, in the order of {@link CompletionPath}
 * @param corrupted            payloads that differ from the sent ones
 * @param completionsPerSecond over all paths, after the warm-up
 * @param latencyNs            from post to handler, after the warm-up
 * @param allocation           allocation of the hot threads, after the warm-up
 * @param complaints           errors, one line each
 * @param notes                notes, one line each
 * @param soak                 the drift of the run, or null if it was not sampled
 * @param faults               effects of the fault plan, or null without one
 */
public record RunReport(
    String device,
    double seconds,
    List<Path> paths,
    long corrupted,
    double completionsPerSecond,
    Histogram latencyNs,
    Allocation allocation,
    List<String> complaints,
    List<String> notes,
    SoakReport soak,
    FaultAccount faults) {

    private static final double[] PERCENTILES = {50, 90, 99, 99.9};

    /**
     * The account of one path.
     *
     * @param path       the path
     * @param posted     work requests that had to complete on it
     * @param completed  those that did, once
     * @param lost       those that did not
     * @param duplicated completions without an open work request
     */
    record Path(CompletionPath path, long posted, long completed, long lost, long duplicated) {
        String label() {
            return switch (path) {
                case SEND_WRITE -> "send/write";
                case RECEIVE -> "receive";
                case ERROR -> "error";
            };
        }

        String key() {
            return switch (path) {
                case SEND_WRITE -> "sendWrite";
                case RECEIVE -> "receive";
                case ERROR -> "error";
            };
        }
    }

    /**
     * The allocation of the hot threads in the steady state.
     *
     * @param pollerBytes  bytes of the polling thread
     * @param handlerBytes bytes of the handler threads
     * @param seconds      time until the last completion
     * @param settled      whether there was a steady state: the JIT had been idle for a while before
     */
    record Allocation(long pollerBytes, long handlerBytes, double seconds, boolean settled) {
        @Override
        public String toString() {
            return String.format(Locale.ROOT, "poller %,d, handlers %,d, in %.1f s%s", pollerBytes, handlerBytes, seconds,
                settled ? "" : " (the JIT was not at rest before: see --warm-up)");
        }
    }

    long lost() {
        return paths.stream().mapToLong(Path::lost).sum();
    }

    long duplicated() {
        return paths.stream().mapToLong(Path::duplicated).sum();
    }

    /**
     * Whether nothing was lost, duplicated or corrupted, and nothing else went wrong.
     *
     * @return false if anything did
     */
    public boolean isSound() {
        return lost() == 0 && (soak == null || soak.isSound()) && duplicated() == 0 && corrupted == 0 && complaints.isEmpty() &&
            paths.stream().allMatch(path -> path.posted == path.completed);
    }

    /**
     * Prints the report.
     *
     * @param out for people
     */
    public void printTable(final PrintWriter out) {
        out.printf("%n%-12s %14s %14s %10s %10s%n", "path", "posted", "completed", "lost", "duplicated");
        for (final Path path : paths) {
            out.printf(
                "%-12s %,14d %,14d %,10d %,10d%n", path.label(), path.posted, path.completed, path.lost, path.duplicated);
        }
        out.printf("%ncorrupted payloads   %,d%n", corrupted);
        out.printf("completions/s        %,.0f%n", completionsPerSecond);
        out.print("post to handler, us ");
        for (final double percentile : PERCENTILES) {
            out.printf(Locale.ROOT, " p%s %.1f ", label(percentile), latencyNs.getValueAtPercentile(percentile) / 1e3);
        }
        out.printf(Locale.ROOT, " max %.1f%n", latencyNs.getMaxValue() / 1e3);
        out.println("bytes allocated      " + allocation);
        if (faults != null) {
            faults.print(out);
        }
        if (soak != null) {
            soak.print(out);
        }
        printRemarks(out);
        out.flush();
    }

    /**
     * Prints complaints and notes alone.
     *
     * @param out for people
     */
    public void printRemarks(final PrintWriter out) {
        notes.forEach(note -> out.println("note: " + note));
        complaints.forEach(complaint -> out.println("wrong: " + complaint));
        out.flush();
    }

    /**
     * The report as one JSON object.
     *
     * @return its text
     */
    public String toJson() {
        final ObjectMapper mapper = new ObjectMapper();
        final ObjectNode root = mapper.createObjectNode();
        root.put("device", device);
        root.put("seconds", Math.round(seconds * 1000) / 1e3);
        final ObjectNode accounts = root.putObject("paths");
        for (final Path path : paths) {
            accounts.putObject(path.key()).put("posted", path.posted).put("completed", path.completed);
        }
        root.put("lost", lost()).put("duplicated", duplicated()).put("corrupted", corrupted);
        root.put("completionsPerSecond", Math.round(completionsPerSecond));
        final ObjectNode latency = root.putObject("latencyNs");
        for (final double percentile : PERCENTILES) {
            latency.put("p" + label(percentile), latencyNs.getValueAtPercentile(percentile));
        }
        latency.put("max", latencyNs.getMaxValue());
        root.putObject("allocatedBytes").put("poller", allocation.pollerBytes).put("handlers", allocation.handlerBytes)
            .put("seconds", Math.round(allocation.seconds * 1000) / 1e3).put("settled", allocation.settled);
        if (faults != null) {
            faults.writeTo(root);
        }
        if (soak != null) {
            soak.writeTo(root);
        }
        try {
            return mapper.writeValueAsString(root);
        } catch (final JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static String label(final double percentile) {
        return percentile == Math.rint(percentile) ? Integer.toString((int) percentile) : Double.toString(percentile);
    }
}
