package io.ringpoll.bench.processes;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.CpuLoss;
import io.ringpoll.bench.measure.CpuWatch;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.os.ThreadAffinity;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.agrona.IoUtil;

/**
 * One of the two processes: executes the commands of standard input, a line each, on its hot thread, and answers each with a
 * line.
 *
 * <pre>
 * listen SUBJECT         listening PLACE
 * connect SUBJECT PLACE  connected
 * accept SUBJECT         accepted
 * run SUBJECT FROM UNTIL done LOST FIGURE...
 * </pre>
 *
 * <p>{@code failed REASON} answers a command that fails. LOST is the share of CPU time that the hot thread lost. The process ends
 * at the end of its input, and in any case after half an hour. The server then deletes the folder of the run: the process that
 * has started it may have been killed.
 */
public final class EndMain {
    /** The first word of the answer to a command that failed. */
    static final String FAILED = "failed";

    private static final long LIFE_MINUTES = 30;
    private static final int TOO_OLD = 3;

    private final EndSettings settings;
    private final Map<ProcessesSubject, End> ends = new EnumMap<>(ProcessesSubject.class);

    private EndMain(final EndSettings settings) {
        this.settings = settings;
    }

    /**
     * Runs an end.
     *
     * @param args of its settings
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(final String... args) throws InterruptedException {
        Thread.ofPlatform().daemon().name("end-of-life").start(EndMain::endLate);
        Device.choose(DeviceKind.LOOPBACK);
        final EndSettings settings = EndSettings.of(args);
        final Thread hot = new Thread(new EndMain(settings)::serve, CpuWatch.THREAD_PREFIX + settings.name());
        hot.start();
        hot.join();
        // Not all threads of the contestants have to end.
        System.exit(0);
    }

    private static void endLate() {
        try {
            TimeUnit.MINUTES.sleep(LIFE_MINUTES);
            Runtime.getRuntime().halt(TOO_OLD);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve() {
        if (settings.cpu() != HotCpus.ANY) {
            ThreadAffinity.pin(settings.cpu());
        }
        final PrintWriter out = new PrintWriter(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        try (BufferedReader in = new BufferedReader(
            new InputStreamReader(new FileInputStream(FileDescriptor.in), StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.println(answer(line.split(" ")));
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            ends.values().forEach(End::close);
            if (settings.isServer()) {
                IoUtil.delete(settings.folder().toFile(), true);
            }
        }
    }

    private String answer(final String... words) {
        try {
            return execute(ProcessesSubject.valueOf(words[1]), words);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            return FAILED + " interrupted";
        } catch (final Exception e) {
            return FAILED + " " + e.toString().replace('\n', ' ');
        }
    }

    private String execute(final ProcessesSubject subject, final String... words) throws Exception {
        switch (words[0]) {
            case "listen":
                ends.put(subject, listen(subject));
                return "listening " + ends.get(subject).place();
            case "connect":
                ends.put(subject, connect(subject, words[2]));
                return "connected";
            case "accept":
                ends.get(subject).accept();
                return "accepted";
            case "run":
                return run(ends.get(subject), Long.parseLong(words[2]), Long.parseLong(words[3]));
            default:
                throw new IllegalArgumentException("no command: " + String.join(" ", words));
        }
    }

    private String run(final End end, final long fromNs, final long untilNs) throws Exception {
        final EndFigures figures;
        final CpuLoss loss;
        try {
            end.prepare(fromNs, untilNs);
            final CpuWatch watch = CpuWatch.ofThisProcess();
            watch.start();
            figures = end.run(fromNs, untilNs);
            // It finds the lost time of living threads only.
            loss = watch.stop();
        } finally {
            end.finish();
        }
        // Ends that share a CPU wait for each other by design.
        return ("done " + (settings.yields() ? loss.stolenOnly() : loss).lostShare() + " " + figures).strip();
    }

    private End listen(final ProcessesSubject subject) {
        return switch (subject) {
            case RINGPOLL -> RingpollEnd.listen(settings);
            case AERON_IPC -> AeronEnd.listen(settings);
            case MEMCPY -> new CopyEnd(true);
            case C, SHARED_MEMORY, TCP, WRITES -> CBaselineEnd.listen(subject, settings);
        };
    }

    private End connect(final ProcessesSubject subject, final String place) throws Exception {
        return switch (subject) {
            case RINGPOLL -> RingpollEnd.connect(settings, place);
            case AERON_IPC -> AeronEnd.connect(settings, place);
            case MEMCPY -> new CopyEnd(false);
            case C, SHARED_MEMORY, TCP, WRITES -> CBaselineEnd.connect(subject, settings, place);
        };
    }
}
