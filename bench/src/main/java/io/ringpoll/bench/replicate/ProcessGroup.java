package io.ringpoll.bench.replicate;

import io.ringpoll.bench.measure.ChildProcesses;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.agrona.IoUtil;

/**
 * The servers of a group as processes, {@code replicate --role server}; clients are processes, too. The servers end with this
 * object, with this process, and after their life time. Their files are deleted with this object, or at a signal. Used by one
 * thread.
 */
final class ProcessGroup implements AutoCloseable {
    /** Time for the start of all processes, and for the election. */
    private static final long START_S = 180;
    private static final int LAST_LINES = 5;
    private static final long LOOK_MS = 100;
    /** Begins the one line of a command that has failed. */
    private static final String REPORT = "ringpoll replicate: ";
    private static final String SETTING = "--property";

    private final ReplicateConfig config;
    private final Contestant contestant;
    private final List<String> launch;
    private final Path folder;
    private final String peers;
    private final ChildProcesses children;
    private final PrintWriter progress;
    private final List<Process> servers = new ArrayList<>();
    private int clients;

    private ProcessGroup(final ReplicateConfig config, final Contestant contestant, final List<String> launch,
        final PrintWriter progress) throws IOException {
        this.config = config;
        this.contestant = contestant;
        this.launch = launch;
        this.progress = progress;
        peers = contestant.transport().freePorts(config.address(), contestant.api(), config.servers()).stream()
            .map(port -> config.address() + ":" + port).collect(Collectors.joining(","));
        folder = Files.createTempDirectory("ringpoll-replicate");
        children = new ChildProcesses(this::deleteFolder);
    }

    /**
     * Starts the servers.
     *
     * @param launch   command line of {@code replicate}, without options
     * @param clients  number of clients that will run, for the life time of the servers
     * @param progress receives a line when a client waits for its first acknowledgement
     */
    static ProcessGroup start(final ReplicateConfig config, final Contestant contestant, final List<String> launch,
        final int clients, final PrintWriter progress) throws IOException {
        final ProcessGroup group = new ProcessGroup(config, contestant, launch, progress);
        boolean started = false;
        try {
            for (int i = 0; i < config.servers(); i++) {
                group.startServer(i, clients * group.clientBoundS());
            }
            started = true;
            return group;
        } finally {
            if (!started) {
                group.close();
            }
        }
    }

    private void startServer(final int id, final long lifeTimeS) throws IOException {
        final List<String> words = new ArrayList<>(List.of("--role", "server", "--id", Integer.toString(id), "--dir",
            folder.resolve("server-" + id).toString(), "--seconds", Long.toString(lifeTimeS)));
        final Map<String, String> settings = config.logSettings();
        settings.putAll(contestant.properties());
        servers.add(start(serverLog(id), words, settings));
    }

    /**
     * Runs a client.
     *
     * @param window records in flight
     * @return its result
     * @throws IOException      if it or a server fails; the message has the end of its output
     * @throws TimeoutException if it does not end
     */
    ReplicateResult runClient(final int window) throws IOException, InterruptedException, TimeoutException {
        final int number = clients++;
        final Path latencies = folder.resolve("latencies-" + number);
        final String log = "client-" + number + ".log";
        final Process client = start(log, List.of("--role", "client", "--acknowledged",
            folder.resolve("acknowledged-" + number).toString(), "--latencies", latencies.toString(), "--window",
            Integer.toString(window), "--payload", Integer.toString(config.payloadBytes()), "--payload-max",
            Integer.toString(config.maxPayloadBytes()), "--warm-up", seconds(config.warmUpNs()), "--seconds",
            seconds(config.runNs())), contestant.properties());
        try {
            await(client, log);
            if (client.exitValue() != 0) {
                throw new IOException("the client over " + contestant.name() + " has failed: " + endOf(log));
            }
            return ClientLatencies.read(latencies);
        } finally {
            client.destroyForcibly();
        }
    }

    private void await(final Process client, final String log) throws IOException, InterruptedException, TimeoutException {
        final long startNs = System.nanoTime();
        boolean waits = false;
        while (!client.waitFor(LOOK_MS, TimeUnit.MILLISECONDS)) {
            for (int i = 0; i < servers.size(); i++) {
                if (!servers.get(i).isAlive()) {
                    throw new IOException("server " + i + " over " + contestant.name() + " has ended: " + endOf(serverLog(i)));
                }
            }
            if (System.nanoTime() - startNs > TimeUnit.SECONDS.toNanos(clientBoundS())) {
                throw new TimeoutException("the client over " + contestant.name() + " has not ended: " + endOf(log));
            }
            final String first = waits ? "" : Files.readString(folder.resolve(log));
            if (first.startsWith(ClientRole.WAITS)) {
                waits = true;
                progress.print(contestant.name() + ": " + first.lines().findFirst().orElseThrow() + "\n");
                progress.flush();
            }
        }
    }

    private static String serverLog(final int id) {
        return "server-" + id + ".log";
    }

    private Process start(final String log, final List<String> words, final Map<String, String> settings) throws IOException {
        final List<String> command = new ArrayList<>(launch);
        command.addAll(List.of("--transport", contestant.transport().toString(), "--peers", peers));
        command.addAll(words);
        settings.forEach((key, value) -> command.addAll(List.of(SETTING, key + "=" + value)));
        return children.start(
            new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(folder.resolve(log).toFile()));
    }

    private long clientBoundS() {
        return START_S + TimeUnit.NANOSECONDS.toSeconds(config.warmUpNs() + config.runNs());
    }

    private static String seconds(final long ns) {
        return Long.toString(TimeUnit.NANOSECONDS.toSeconds(ns));
    }

    private String endOf(final String log) throws IOException {
        final List<String> lines = Files.readAllLines(folder.resolve(log));
        if (!lines.isEmpty() && lines.getLast().startsWith(REPORT)) {
            return lines.getLast().substring(REPORT.length());
        }
        return String.join("; ", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
    }

    private void deleteFolder() {
        IoUtil.delete(folder.toFile(), true);
    }

    @Override
    public void close() {
        children.close();
        deleteFolder();
    }
}
