package io.ringpoll.bench.latency;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.measure.CpuLoss;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * perftest at ping-pong: {@code ib_send_lat}, {@code ib_write_lat} or {@code ib_read_lat} as two processes, on the same device,
 * with a connection by the connection manager.
 *
 * <p>The processes end with the turn, and no thread of ringpoll runs during it. {@code ib_write_lat} writes without immediate
 * data and polls the memory instead of a receive completion queue, so it does less work than the other contestants. Used by one
 * thread.
 */
final class PerftestContestant implements Contestant {
    /** Its label in results. */
    static final String NAME = "perftest";

    private static final int DEFAULT_ITERATIONS = 2_000;
    /** Time after which the server listens. */
    private static final long START_NS = TimeUnit.SECONDS.toNanos(10);
    /** Added to a millisecond for each iteration. */
    private static final int END_S = 30;
    private static final long POLL_MS = 50;

    private final String tool;
    private final String host;
    private final int sizeBytes;
    private final int endS;

    PerftestContestant(final Traffic.Operation operation, final String host, final int sizeBytes) {
        this("ib_" + operation.name().toLowerCase(Locale.ROOT) + "_lat", host, sizeBytes, END_S);
    }

    /** With a given program and time limit. */
    PerftestContestant(final String tool, final String host, final int sizeBytes, final int endS) {
        this.tool = tool;
        this.host = host;
        this.sizeBytes = sizeBytes;
        this.endS = endS;
    }

    @Override
    public String label() {
        return NAME;
    }

    /** Each turn is a process of its own. */
    @Override
    public boolean warmsUp() {
        return false;
    }

    @Override
    public LatencyWindow run(final Turn turn) {
        final long beganNs = System.nanoTime();
        final long iterations = turn.iterations() == 0 ? DEFAULT_ITERATIONS : Math.max(5, turn.iterations());
        final List<String> command = List.of(tool, "-R", "-F", "-U", "-s", Integer.toString(sizeBytes), "-n",
            Long.toString(iterations));
        final Process server = start(command, ProcessBuilder.Redirect.DISCARD);
        try {
            final String printed = connect(command, endS + TimeUnit.MILLISECONDS.toSeconds(iterations));
            final Histogram latencyNs = parse(printed);
            final String fault = latencyNs.getTotalCount() > 0 ? "" : tool + " printed no latencies: " + lastLine(printed);
            return new LatencyWindow(turn.round(), label(), latencyNs, 0, 0,
                new CpuLoss(System.nanoTime() - beganNs, 0, 0, 0), 0, fault);
        } finally {
            kill(server);
        }
    }

    @Override
    public void close() {
        // Nothing to release between turns.
    }

    /**
     * Parses the output of {@code -U}: one line per iteration with its number and its latency in microseconds.
     *
     * @param printed output of the client
     * @return the latencies in nanoseconds
     */
    static Histogram parse(final String printed) {
        final Histogram histogram = new Histogram(3);
        new BufferedReader(new StringReader(printed)).lines().forEach(line -> {
            final int comma = line.indexOf(',');
            if (comma > 0 && line.substring(0, comma).strip().chars().allMatch(Character::isDigit)) {
                histogram.recordValue(Math.round(Double.parseDouble(line.substring(comma + 1).strip()) * 1_000));
            }
        });
        return histogram;
    }

    /** Runs the client; repeatedly while the server does not listen yet. A client that hangs is killed and has no latencies. */
    private String connect(final List<String> command, final long limitS) {
        final long deadlineNs = System.nanoTime() + START_NS;
        final List<String> client = new ArrayList<>(command);
        client.add(host);
        while (true) {
            final Path output = newOutput();
            final Process process = start(client, ProcessBuilder.Redirect.to(output.toFile()));
            try {
                if (!end(process, limitS)) {
                    return "it hung and was killed after " + limitS + " s";
                }
                if (process.exitValue() == 0 || System.nanoTime() - deadlineNs > 0) {
                    return Files.readString(output);
                }
                Thread.sleep(POLL_MS);
            } catch (final IOException e) {
                throw new UncheckedIOException(tool, e);
            } catch (final InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(tool + ": interrupted", e);
            } finally {
                kill(process);
                output.toFile().delete();
            }
        }
    }

    /** A file, because a pipe would have to be read during the wait. */
    private static Path newOutput() {
        try {
            return Files.createTempFile("ringpoll-perftest", ".out");
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Process start(final List<String> command, final ProcessBuilder.Redirect output) {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output).start();
        } catch (final IOException e) {
            throw new IllegalStateException(tool + " cannot be started: install perftest (" + e.getMessage() + ")", e);
        }
    }

    /** Waits for its end, too: what is left of a killed process would disturb the next turn. */
    private void kill(final Process process) {
        process.destroyForcibly();
        end(process, END_S);
    }

    private boolean end(final Process process, final long limitS) {
        try {
            return process.waitFor(limitS, TimeUnit.SECONDS);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(tool + ": interrupted", e);
        }
    }

    private static String lastLine(final String printed) {
        return printed.strip().lines().reduce("", (first, second) -> second);
    }
}
