package io.ringpoll.verify.torture.processes;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.fault.FaultInjection;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.PipelineGroup;
import io.ringpoll.pipeline.PipelineReport;
import io.ringpoll.verify.torture.supervised.SceneHangs;
import io.ringpoll.verify.torture.supervised.SupervisedScene;
import io.ringpoll.verify.torture.supervised.Violations;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Plays one scene in the process that survives: the lives of one or two peers, each on a thread, and the census of the segments
 * that it shares with them.
 *
 * <p>Used by one thread, which starts and joins the others.
 */
final class ProcessScene implements SupervisedScene, PeerLife.Others {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final AtomicLong START_NS = new AtomicLong(TimeUnit.SECONDS.toNanos(1));

    private final PrintStream out = System.out;
    private final long seed;
    private final RdmaApi api;
    private final String address;
    private final boolean isLoopback = Device.current().kind() == DeviceKind.LOOPBACK;
    private final ProcessShape shape;
    private final Violations violations = new Violations();
    private final List<PeerLife> current = new ArrayList<>();
    private long requests;
    private long lives;

    ProcessScene(final long seed, final RdmaApi api, final String address) {
        this.seed = seed;
        this.api = api;
        this.address = address;
        shape = ProcessShape.draw(new SplittableRandom(seed), isLoopback);
    }

    @Override
    public ProcessShape shape() {
        return shape;
    }

    @Override
    public String threadPrefix() {
        return "processes-" + Long.toHexString(seed) + '-';
    }

    @Override
    public Violations violations() {
        return violations;
    }

    @Override
    public long operations() {
        return requests;
    }

    @Override
    public long events() {
        return lives;
    }

    @Override
    @SuppressWarnings("try") // takes the faults back
    public void play() throws InterruptedException {
        final long segments = segments();
        final Registry registry = new Registry(violations);
        try (RcPeer peer = api.ofLocal(address)) {
            final PipelineGroup group = registry.start(shape, threadPrefix());
            try (FaultInjection faults = shape.plan().map(FaultInjection::apply).orElse(null)) {
                playLives(registry, group, peer);
            } finally {
                for (final PipelineReport report : group.close(PATIENCE_NS)) {
                    violations.expect(report.inTime() && report.unhandled() == 0, "a pipeline left something: " + report);
                }
            }
        }
        final long startNs = System.nanoTime();
        while (segments() > segments && System.nanoTime() - startNs < PATIENCE_NS) {
            LockSupport.parkNanos(CHECK_NS);
        }
        violations.expect(segments() <= segments, "segments left behind: " + segments + " before the scene, " + segments() +
            " after it");
    }

    private void playLives(final Registry registry, final PipelineGroup group, final RcPeer peer) throws InterruptedException {
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < shape.peers().size(); i++) {
            final int number = i;
            threads.add(Thread.ofPlatform().daemon().name(threadPrefix() + "peer-" + i).start(() -> {
                try {
                    playLives(registry, group, peer, number);
                } catch (final SceneHangs hangs) {
                    violations.add(hangs.getMessage());
                    out.println(SceneHangs.dump());
                } catch (final RuntimeException | InterruptedException thrown) {
                    violations.unexpected("peer " + number, thrown);
                }
            }));
        }
        for (final Thread thread : threads) {
            thread.join(TimeUnit.NANOSECONDS.toMillis(Patience.LIVES_NS));
            if (thread.isAlive()) {
                throw new SceneHangs(thread.getName() + " does not end");
            }
        }
    }

    private void playLives(final Registry registry, final PipelineGroup group, final RcPeer peer, final int number)
        throws InterruptedException {
        final List<Life> planned = shape.peers().get(number);
        for (int i = 0; i < planned.size() && violations.isEmpty(); i++) {
            final PeerLife life = new PeerLife(planned.get(i), registry, group, peer,
                threadPrefix() + "output-" + number + '-' + i, this);
            enter(life);
            try {
                START_NS.set(life.play(address, List.of(
                    api.name(), Long.toString(seed), Integer.toString(number), Integer.toString(i)), START_NS.get()));
            } finally {
                leave(life);
            }
        }
    }

    private void enter(final PeerLife life) {
        synchronized (current) {
            current.add(life);
        }
    }

    private void leave(final PeerLife life) {
        synchronized (current) {
            current.remove(life);
            requests += life.progress();
            lives++;
        }
    }

    @Override
    public PeerLife working(final PeerLife than) {
        synchronized (current) {
            return current.stream().filter(life -> life != than && life.isWorking()).findFirst().orElse(null);
        }
    }

    @Override
    public boolean areNone() {
        return shape.peers().size() == 1;
    }

    /** The segments that this process shares with others. */
    private long segments() {
        if (!isLoopback) {
            return 0;
        }
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("memfd:ringpoll-loopback")).count();
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
