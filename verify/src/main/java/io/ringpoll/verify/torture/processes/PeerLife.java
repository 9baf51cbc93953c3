package io.ringpoll.verify.torture.processes;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.pipeline.PipelineGroup;
import io.ringpoll.verify.torture.supervised.SceneHangs;
import io.ringpoll.verify.torture.supervised.SceneJvm;
import io.ringpoll.verify.torture.supervised.Violations;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * One life of a peer as the survivor plays it: starts the process, works with it, lets its fate happen, and accounts for
 * everything.
 *
 * <p>Used by one thread; others read {@link #isWorking} and {@link #progress}.
 */
final class PeerLife {
    private static final long CHECK_NS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final long WORD_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int THOUSAND = 1000;

    private final PrintStream out = System.out;
    private final Life life;
    private final Violations violations;
    private final Registry registry;
    private final PipelineGroup group;
    private final RcPeer peer;
    private final String name;
    private final Others others;
    private PeerProcess process;
    private Traffic traffic;
    private long startedNs;
    private long printedNs;
    private long killAtNs = Long.MAX_VALUE;
    private volatile boolean working;

    /** The other peers of the scene. */
    interface Others {
        /** A peer that is neither stopped nor ending; null without one. */
        PeerLife working(PeerLife than);

        /** Whether there are none in the whole scene. */
        boolean areNone();
    }

    PeerLife(final Life life, final Registry registry, final PipelineGroup group, final RcPeer peer, final String name,
        final Others others) {
        this.life = life;
        this.violations = registry.violations();
        this.registry = registry;
        this.group = group;
        this.peer = peer;
        this.name = name;
        this.others = others;
    }

    /** Whether its process works, and is not to be stopped or ended. */
    boolean isWorking() {
        return working;
    }

    /** The number of requests that have ended. */
    long progress() {
        final Traffic current = traffic;
        return current == null ? 0 : current.progress();
    }

    /**
     * Plays the life.
     *
     * @param address of the device
     * @param words   first arguments of the process
     * @param startNs an estimate of the time that a process takes to connect
     * @return the measured time of the start; the estimate if it was killed before
     */
    long play(final String address, final List<String> words, final long startNs) throws InterruptedException {
        startedNs = System.nanoTime();
        print(life.toString());
        long connectedNs = startNs;
        final Path file = file();
        try (RcListener endpoint = life.peerListens() ? null : peer.listen(address, 0)) {
            final Journal journal = Journal.open(file, life.connections());
            final Map<Long, String> ofKilled = PortFolder.unowned();
            process = new PeerProcess(name, Stream.concat(words.stream(), Stream.of(address,
                Integer.toString(endpoint == null ? 0 : endpoint.port()), file.toString())).toList());
            try (PeerProcess started = process;
                Traffic between = new Traffic(registry, group, peer, life, false, null, this::tick)) {
                traffic = between;
                if (life.fate() == Life.Fate.KILLED_EARLY) {
                    killAtNs = startedNs + startNs / THOUSAND * life.delayMs() * 3;
                }
                if (connect(address, endpoint)) {
                    connectedNs = System.nanoTime() - startedNs;
                    // Another peer that is killed while it removes files leaves them to the one after it.
                    final Map<Long, String> left = others.areNone() ? PortFolder.left(ofKilled) : Map.of();
                    violations.expect(left.isEmpty(), "files of killed processes that the next one does not remove: " + left);
                    print("works");
                    work();
                } else {
                    violations.expect(life.fate() == Life.Fate.KILLED_EARLY, "not connected: " + started.lines());
                }
                print("ends");
                end(journal);
            }
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        } finally {
            delete(file);
        }
        return connectedNs;
    }

    /** For the parent: a scene without output for minutes counts as hanging. */
    private void print(final String line) {
        printedNs = System.nanoTime();
        out.println(name + ": " + line);
    }

    /** The limits of a slow machine are longer than that. */
    private void printInTime() {
        if (System.nanoTime() - printedNs > WORD_NS) {
            print("goes on");
        }
    }

    private static Path file() {
        try {
            // In the folder of the supervisor, which removes it if it kills this process.
            final String folder = System.getenv(SceneJvm.FOLDER);
            return folder == null ? Files.createTempFile("ringpoll-journal", "") :
                Files.createTempFile(Path.of(folder), "ringpoll-journal", "");
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static void delete(final Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Kills the process if it is time; ends a start that hangs. */
    private void tick() {
        printInTime();
        if (progress() == 0 && System.nanoTime() - startedNs > Patience.START_NS) {
            throw new SceneHangs("not connected in time, " + life + ": " + traffic + ", peer: " + process.lines());
        }
        if (System.nanoTime() - killAtNs >= 0 && killAtNs != Long.MAX_VALUE) {
            traffic.mayFail();
            killAtNs = Long.MAX_VALUE;
            process.kill();
        }
    }

    private boolean connect(final String address, final RcListener endpoint) {
        if (endpoint != null) {
            return traffic.accept(endpoint, ignored -> !process.isAlive());
        }
        String port = process.line("port ");
        while (port == null && process.isAlive()) {
            tick();
            LockSupport.parkNanos(CHECK_NS);
            port = process.line("port ");
        }
        if (port == null) {
            return false;
        }
        try {
            return traffic.connect(address, Integer.parseInt(port));
        } catch (final RdmaException refused) {
            tick();
            violations.expect(life.fate() == Life.Fate.KILLED_EARLY, "not connected: " + refused.getMessage());
            return false;
        }
    }

    private void work() throws InterruptedException {
        working = !life.fate().isKill() && !life.fate().isStop();
        stepFor(life.delayMs());
        working = false;
        switch (life.fate()) {
            case KILLED -> kill();
            case KILLED_EARLY -> {
                // Not early enough.
                killAtNs = System.nanoTime();
                tick();
            }
            case KILLED_STOPPED -> {
                stop();
                kill();
            }
            case STOPPED -> {
                for (int i = 0; i < life.stops(); i++) {
                    stop();
                    process.signal("CONT");
                    stepFor(life.stopMs());
                }
                finish();
            }
            case CLOSED -> finish();
            case DISCONNECTED -> traffic.disconnect();
            case DISCONNECTED_STOPPED -> {
                stop();
                traffic.disconnect();
                stepUntil("completions while the peer is stopped", traffic::isSettled);
                process.signal("CONT");
            }
            default -> throw new IllegalStateException(life.fate().toString());
        }
    }

    private void kill() {
        traffic.mayFail();
        process.kill();
    }

    /** Stops the process; the others are not delayed. */
    private void stop() throws InterruptedException {
        process.signal("STOP");
        final PeerLife other = others.working(this);
        final long before = other == null ? 0 : other.progress();
        stepFor(life.stopMs());
        stepUntil("the work of a process that is not stopped", () ->
            other == null || !other.isWorking() || other.progress() > before);
    }

    /** Ends in order. */
    private void finish() {
        process.command("finish");
        stepUntil("all acknowledgements", () -> {
            traffic.quieten();
            return traffic.isQuiet() && process.line("quiet") != null;
        });
        traffic.mayFail();
        if (life.peerCloses()) {
            process.command("close");
        } else {
            traffic.disconnect();
        }
    }

    private void stepFor(final long milliseconds) {
        final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds);
        stepUntil("time", () -> {
            tick();
            return System.nanoTime() - endNs >= 0;
        });
    }

    private void stepUntil(final String what, final BooleanSupplier isDone) {
        final long startNs = System.nanoTime();
        while (!isDone.getAsBoolean()) {
            if (!traffic.step()) {
                LockSupport.parkNanos(CHECK_NS);
            }
            printInTime();
            if (System.nanoTime() - startNs > Patience.EVENT_NS) {
                // A stopped process would answer nobody.
                process.kill();
                throw new SceneHangs("waited in vain for " + what + ", " + life + ": " + traffic + ", peer: " + process.lines());
            }
        }
    }

    private void end(final Journal journal) throws InterruptedException {
        stepUntil("the event of the end", traffic::isOver);
        stepUntil("all completions", traffic::isSettled);
        final int exitCode = process.awaitEnd(Patience.END_NS);
        process.lines().stream().filter(line -> line.startsWith("wrong ")).forEach(line -> violations.add("peer: " +
            line.substring("wrong ".length())));
        violations.expect(exitCode == (life.fate().isKill() ? 137 : 0),
            "the peer ended with exit code " + exitCode + ", " + life + ": " + process.lines());
        traffic.compare(journal, life.fate() == Life.Fate.CLOSED || life.fate() == Life.Fate.STOPPED);
    }
}
