package io.ringpoll.bench.echo;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.AllocationWatch;
import io.ringpoll.bench.measure.CpuLoss;
import io.ringpoll.bench.measure.CpuWatch;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The JVM of one contestant with a number of connections: opens them at the first line of its input, and takes a turn at each
 * later one. It ends with its input. Used by one thread.
 */
public final class EchoMain {
    /** The first line of the input. */
    static final String OPEN = "open";
    /** The first line of the output; a line with the JSON object of each turn follows. */
    static final String READY = "ready";
    /** The first word of a line instead, with the reason. */
    static final String FAILED = "failed";

    private static final long START_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final EchoScale scale;
    private final EchoSubject subject;
    private final EchoContestant contestant;
    private final HotCpus cpus;

    private EchoMain(final EchoScale scale, final EchoSubject subject, final EchoContestant contestant, final HotCpus cpus) {
        this.scale = scale;
        this.subject = subject;
        this.contestant = contestant;
        this.cpus = cpus;
    }

    /**
     * Takes turns.
     *
     * @param args name of the contestant; connections, window and messages in flight of its scale
     * @throws IOException if the commands cannot be read
     */
    public static void main(final String... args) throws IOException {
        final PrintWriter out = new PrintWriter(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        int exitCode = 0;
        try {
            if (in.readLine() != null) {
                takeTurns(EchoSubject.valueOf(args[0]),
                    new EchoScale(Integer.parseInt(args[1]), Integer.parseInt(args[2]), Integer.parseInt(args[3])), in, out);
            }
        } catch (final IOException | RuntimeException failed) {
            out.println(FAILED + " " + failed.toString().replace('\n', ' '));
            exitCode = 1;
        }
        // Not all threads of a contestant have to end.
        System.exit(exitCode);
    }

    private static void takeTurns(final EchoSubject subject, final EchoScale scale, final BufferedReader in,
        final PrintWriter out) throws IOException {
        Device.choose(DeviceKind.LOOPBACK);
        final HotCpus cpus = HotCpus.planned(1);
        try (EchoContestant contestant = subject.open(scale, new EchoThreads(cpus, new Gate()))) {
            final EchoMain turns = new EchoMain(scale, subject, contestant, cpus);
            out.println(READY);
            for (String command = in.readLine(); command != null; command = in.readLine()) {
                out.println(turns.take(command).addTo(JsonNodeFactory.instance.objectNode()));
            }
        }
    }

    /** The command of a turn. */
    static String command(final int round, final EchoMode mode, final EchoConfig config) {
        return round + " " + mode + " " + config.leadInMs() + " " + config.windowMs();
    }

    private EchoWindow take(final String command) {
        final String[] words = command.split(" ");
        return take(Integer.parseInt(words[0]), EchoMode.valueOf(words[1]),
            TimeUnit.MILLISECONDS.toNanos(Long.parseLong(words[2])), TimeUnit.MILLISECONDS.toNanos(Long.parseLong(words[3])));
    }

    private EchoWindow take(final int round, final EchoMode mode, final long leadInNs, final long windowNs) {
        System.gc();
        QuietProcess.await();
        final long fromNs = System.nanoTime() + START_NS + leadInNs;
        final long untilNs = fromNs + windowNs;
        contestant.start(mode, fromNs, untilNs);
        // Before the end of the lead-in: with as many hot threads as CPUs, one of them would wait while this thread reads.
        Timing.sleepUntil(fromNs - START_NS);
        final CpuWatch watch = CpuWatch.ofThisProcess();
        final AllocationWatch allocations = new AllocationWatch();
        allocations.start();
        watch.start();
        Timing.sleepUntil(fromNs);
        final long firstNs = System.nanoTime();
        final long first = contestant.answers();
        Timing.sleepUntil(untilNs);
        final long lastNs = System.nanoTime();
        final long last = contestant.answers();
        final CpuLoss lost = watch.stop();
        final double allocatedBytes = allocations.stop(contestant.answers() - first);
        final CpuLoss loss = cpus.areExclusive(1) ? lost : lost.stolenOnly();
        String fault = "";
        try {
            contestant.stop();
        } catch (final TimeoutException | RuntimeException failed) {
            fault = failed.toString();
        }
        return new EchoWindow(round, scale, mode, subject, (lastNs - firstNs) / (double) (last - first),
            EchoWindow.percentiles(contestant.roundTripNs()),
            contestant.isJava() ? allocatedBytes : AllocationWatch.UNKNOWN, loss, fault);
    }
}
