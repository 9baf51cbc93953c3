package io.ringpoll.verify.run;

import io.ringpoll.completion.CompletionPath;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

/** The account of a run: the work requests posted by both sides, and the completions of the handlers. */
final class Accounts {
    private final Map<CompletionPath, PathAccount> handlers = new EnumMap<>(CompletionPath.class);
    private final Map<CompletionPath, AtomicLong> posted = new EnumMap<>(CompletionPath.class);
    private final List<String> complaints = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final Queue<String> failedQueues = new ConcurrentLinkedQueue<>();
    private final AtomicLong replaced = new AtomicLong();
    private final boolean faultsPlanned;

    /**
     * Creates an empty account.
     *
     * @param ledger        where the handlers close work requests
     * @param faultsPlanned whether failed polls and broken connections are expected
     */
    Accounts(final Ledger ledger, final boolean faultsPlanned) {
        this.faultsPlanned = faultsPlanned;
        for (final CompletionPath path : CompletionPath.values()) {
            handlers.put(path, new PathAccount(path, ledger, this::onFailedPoll));
            posted.put(path, new AtomicLong());
        }
    }

    PathAccount handler(final CompletionPath path) {
        return handlers.get(path);
    }

    /** Marks the end of the warm-up; any thread. */
    void startMeasurement() {
        handlers.values().forEach(PathAccount::startMeasurement);
    }

    /** Adds work requests that must complete on a path; any thread. */
    void addPosted(final CompletionPath path, final long count) {
        posted.get(path).addAndGet(count);
    }

    /** Adds an error of the run; any thread. */
    void complain(final String complaint) {
        synchronized (complaints) {
            complaints.add(complaint);
        }
    }

    /** Adds an error of the run unless faults are planned; any thread. */
    void complainUnlessPlanned(final String complaint) {
        if (!faultsPlanned) {
            complain(complaint);
        }
    }

    /** Counts a failed connection that was replaced; any thread. */
    void onReplaced() {
        replaced.incrementAndGet();
    }

    /** The number of replaced connections; any thread. */
    long replaced() {
        return replaced.get();
    }

    /** The name of a queue with a failed poll that must be polled again, or null; any thread. */
    String takeFailedQueue() {
        return failedQueues.poll();
    }

    private boolean onFailedPoll(final String queueName) {
        return faultsPlanned && failedQueues.add(queueName);
    }

    /** Adds a note that is not an error; any thread. */
    void note(final String note) {
        synchronized (complaints) {
            notes.add(note);
        }
    }

    /** The notes, one line each; any thread. */
    List<String> notes() {
        synchronized (complaints) {
            return List.copyOf(notes);
        }
    }

    /** Completions handled so far on all paths; any thread. */
    long completed() {
        long sum = 0;
        for (final PathAccount handler : handlers.values()) {
            sum += handler.completed();
        }
        return sum;
    }

    /** Completions handled so far on one path; any thread. */
    long completed(final CompletionPath path) {
        return handlers.get(path).completed();
    }

    /** The account by path, after the handlers have ended. */
    List<RunReport.Path> paths() {
        final List<RunReport.Path> paths = new ArrayList<>();
        handlers.forEach((path, handler) -> {
            final long expected = posted.get(path).get();
            final long lost = Math.max(0, expected - handler.completed());
            paths.add(new RunReport.Path(path, expected, handler.completed(), lost, handler.duplicated()));
        });
        return paths;
    }

    long corrupted() {
        return handlers.values().stream().mapToLong(PathAccount::corrupted).sum();
    }

    /** All errors, one line each; after the handlers have ended. */
    List<String> complaints() {
        final List<String> all = new ArrayList<>();
        handlers.values().stream().map(PathAccount::firstComplaint).filter(complaint -> complaint != null).forEach(all::add);
        synchronized (complaints) {
            all.addAll(complaints);
        }
        return all;
    }

    /** Latencies since the last call, of each path; handlers stop adding to them a moment later. One thread at a time. */
    List<Histogram> exchangeLatencies() {
        return handlers.values().stream().map(PathAccount::exchangeLatency).toList();
    }

    /** Latencies of all paths together, after the handlers have ended. */
    Histogram latencyNs() {
        final Histogram sum = new Histogram(handlers.get(CompletionPath.ERROR).latencyNs());
        handlers.values().forEach(handler -> sum.add(handler.latencyNs()));
        return sum;
    }
}
