package io.ringpoll.bench.processes;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.ChildProcesses;
import io.ringpoll.bench.measure.Rounds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.agrona.IoUtil;

/**
 * Measures two processes: a server and a client. Both have an end of each contestant open at the same time, and take their turns
 * together; the order of a round is random, by the seed of the settings, and dropped turns are repeated. This process sleeps
 * meanwhile. Used by one thread.
 */
final class ProcessesMeasurement {
    private static final Path MEMORY = Path.of("/dev/shm");

    private final ProcessesConfig config;
    private final HotCpus cpus;
    private final Random random;

    ProcessesMeasurement(final ProcessesConfig config, final HotCpus cpus) {
        this.config = config;
        this.cpus = cpus;
        random = new Random(config.seed());
    }

    /**
     * Measures. At any end of this process, the two processes are killed and their files are deleted.
     *
     * @throws IllegalStateException if one of the two processes fails
     */
    ProcessesReport run() throws IOException, InterruptedException {
        final Path folder = newFolder();
        try (ChildProcesses children = new ChildProcesses(() -> delete(folder));
            EndProcess server = EndProcess.start(new EndSettings(true, cpus.handler(0), yields(), folder), children);
            // Closed first: it ends the connections.
            EndProcess client = EndProcess.start(new EndSettings(false, cpus.poller(), yields(), folder), children)) {
            return measure(server, client);
        } finally {
            delete(folder);
        }
    }

    private static void delete(final Path folder) {
        IoUtil.delete(folder.toFile(), true);
    }

    /** A folder that only this user can access: the device has its ports there. */
    static Path newFolder() throws IOException {
        return Files.createTempDirectory(Files.isDirectory(MEMORY) ? MEMORY : Path.of("/tmp"), "ringpoll-processes-");
    }

    private boolean yields() {
        return !cpus.areExclusive(1);
    }

    private ProcessesReport measure(final EndProcess server, final EndProcess client) throws InterruptedException {
        for (final ProcessesSubject subject : ProcessesSubject.values()) {
            server.send("listen " + subject.name());
            final String place = server.answer().getFirst();
            server.send("accept " + subject.name());
            client.send("connect " + subject.name() + " " + place);
            client.answer();
            server.answer();
        }
        final List<ProcessesWindow> windows = new ArrayList<>();
        final List<ProcessesSubject> subjects = List.of(ProcessesSubject.values());
        new Rounds<>(subjects, 1, random).run(config.warmUp(), (round, subject) -> {
            window(round, subject, server, client);
            return true;
        });
        new Rounds<>(subjects, config.attempts(), random).run(config.rounds(), (round, subject) -> {
            final ProcessesWindow window = window(round, subject, server, client);
            windows.add(window);
            return window.counts();
        });
        return new ProcessesReport(config, cpus, windows);
    }

    private ProcessesWindow window(
        final int round, final ProcessesSubject subject, final EndProcess server, final EndProcess client)
        throws InterruptedException {
        final long fromNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.leadInMs());
        final long untilNs = fromNs + TimeUnit.MILLISECONDS.toNanos(config.windowMs());
        final String command = "run " + subject.name() + " " + fromNs + " " + untilNs;
        server.send(command);
        client.send(command);
        final List<String> measured = client.answer();
        final List<String> served = server.answer();
        return new ProcessesWindow(round, subject, EndFigures.parse(measured.subList(1, measured.size())).costsNs(),
            Math.max(Double.parseDouble(measured.getFirst()), Double.parseDouble(served.getFirst())));
    }
}
