package io.ringpoll.verify.torture.processes;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.PipelineGroup;
import io.ringpoll.rpma.LogLevel;
import io.ringpoll.rpma.RpmaLog;
import io.ringpoll.verify.torture.supervised.SceneHangs;
import io.ringpoll.verify.torture.supervised.Violations;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The peer's process: connects, works until its connections have ended, and checks what it sees.
 *
 * <pre>
 *   standard input:  finish   posts no more messages
 *                    close    disconnects
 *                    its end ends the process
 *   standard output: port N   listens
 *                    working  is connected
 *                    quiet    all is done and acknowledged, after finish
 *                    wrong TEXT
 * </pre>
 */
final class PeerMain {
    private static final long CHECK_NS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final int ORPHANED = 3;

    private final PrintStream out = System.out;
    private final RdmaApi api;
    private final ProcessShape shape;
    private final Life life;
    private final String address;
    private final int port;
    private final Violations violations = new Violations();
    private volatile boolean finish;
    private volatile boolean close;

    private PeerMain(final RdmaApi api, final ProcessShape shape, final Life life, final String address, final int port) {
        this.api = api;
        this.shape = shape;
        this.life = life;
        this.address = address;
        this.port = port;
    }

    /**
     * Plays a life.
     *
     * @param arguments binding, seed of the scene, number of the peer, number of its life, address, port of the survivor or
     *                  0 to listen, file of the journal
     * @throws IOException if the journal cannot be mapped
     */
    public static void main(final String[] arguments) throws IOException {
        final RdmaApi api = RdmaApi.valueOf(arguments[0]);
        if (api == RdmaApi.RPMA) {
            RpmaLog.threshold(LogLevel.DISABLED);
        }
        final ProcessShape shape = ProcessShape.draw(
            new SplittableRandom(Long.parseLong(arguments[1])), Device.current().kind() == DeviceKind.LOOPBACK);
        final Life life = shape.peers().get(Integer.parseInt(arguments[2])).get(Integer.parseInt(arguments[3]));
        final PeerMain main = new PeerMain(api, shape, life, arguments[4], Integer.parseInt(arguments[5]));
        Thread.ofPlatform().daemon().name("commands").start(main::read);
        try {
            main.play(Journal.open(Path.of(arguments[6]), life.connections()));
        } catch (final RuntimeException | Error thrown) {
            main.violations.unexpected("the peer", thrown);
        }
        main.violations.lines().forEach(line -> main.out.println("wrong " + line.replace('\n', ' ')));
        System.exit(main.violations.isEmpty() ? 0 : 1);
    }

    private void read() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                finish |= line.equals("finish");
                close |= line.equals("close");
            }
        } catch (final IOException ended) {
            // As without the survivor.
        }
        Runtime.getRuntime().halt(ORPHANED);
    }

    @SuppressWarnings("try") // closes the listener
    private void play(final Journal journal) {
        final Registry registry = new Registry(violations);
        try (RcPeer peer = api.ofLocal(address); PipelineGroup group = registry.start(shape, "peer-");
            Traffic traffic = new Traffic(registry, group, peer, life, true, journal, () -> { });
            RcListener endpoint = life.peerListens() ? peer.listen(address, 0) : null) {
            if (endpoint == null) {
                violations.expect(traffic.connect(address, port), "the survivor is gone");
            } else {
                out.println("port " + endpoint.port());
                violations.expect(traffic.accept(endpoint, ignored -> false), "the survivor is gone");
            }
            out.println("working");
            work(traffic);
        }
    }

    private void work(final Traffic traffic) {
        boolean isQuiet = false;
        boolean isClosed = false;
        final Overdue overdue = new Overdue(System.nanoTime(), Patience.EVENT_NS);
        while (!traffic.isOver() || !traffic.isSettled()) {
            if (!traffic.step()) {
                LockSupport.parkNanos(CHECK_NS);
            }
            if (finish) {
                traffic.quieten();
                if (!isQuiet && traffic.isQuiet()) {
                    isQuiet = true;
                    out.println("quiet");
                }
            }
            if (close && !isClosed) {
                isClosed = true;
                traffic.disconnect();
            }
            if (overdue.isReached(traffic.hasFailed(), traffic.isOver(), System.nanoTime())) {
                violations.add(traffic.isOver() ? "requests without completion: " + traffic :
                    "failed, and no event of the end: " + traffic);
                out.println(SceneHangs.dump());
                return;
            }
        }
    }
}
