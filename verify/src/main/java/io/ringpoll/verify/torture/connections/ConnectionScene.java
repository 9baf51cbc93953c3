package io.ringpoll.verify.torture.connections;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.fault.FaultInjection;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.verify.torture.supervised.SceneHangs;
import io.ringpoll.verify.torture.supervised.SupervisedScene;
import io.ringpoll.verify.torture.supervised.Violations;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Plays one scene: starts sets, lets operators open, use and close connections, brings the traffic to rest, probes the credits,
 * closes the sets in the middle of new traffic, and checks the result with the model.
 *
 * <p>Used by one thread, which starts and joins the others.
 */
final class ConnectionScene implements SupervisedScene {
    /** For each step of a scene; the longest time-out of the layer is 10 seconds. */
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long CHECK_NS = TimeUnit.MICROSECONDS.toNanos(200);
    private static final int LAST_MESSAGES = 20;
    private static final int MOST_SHOWN = 6;
    /** Of each side: twice as many as wait, if the ring of receives begins anew in between. */
    private static final int MOST_PROBES = 8;

    private final long seed;
    private final RdmaApi api;
    private final String address;
    private final Path countersFolder;
    private final SplittableRandom random;
    private final ConnectionShape shape;
    private final Violations violations = new Violations();
    private final World world;
    private final List<SetUnderTest> sets = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final List<Operator> operators = new ArrayList<>();
    private long messages;
    private long connections;
    private volatile boolean over;
    private Thread choring;

    ConnectionScene(final long seed, final RdmaApi api, final String address, final Path countersFolder) {
        this.seed = seed;
        this.api = api;
        this.address = address;
        this.countersFolder = countersFolder;
        random = new SplittableRandom(seed);
        shape = ConnectionShape.draw(random, Device.current().kind() == DeviceKind.LOOPBACK);
        world = new World(seed, api, shape, violations);
    }

    @Override
    public ConnectionShape shape() {
        return shape;
    }

    @Override
    public String threadPrefix() {
        return "connections-" + Long.toHexString(seed) + '-';
    }

    @Override
    public Violations violations() {
        return violations;
    }

    @Override
    public long operations() {
        return connections;
    }

    @Override
    public long events() {
        return messages;
    }

    @Override
    @SuppressWarnings("try") // takes the faults back
    public void play() throws InterruptedException {
        try (LayerLog log = new LayerLog(violations);
            RcPeer peer = api.ofLocal(address);
            RcListener silent = peer.listen(address, 0)) {
            startSets();
            try (FaultInjection faults = shape.plan().map(FaultInjection::apply).orElse(null)) {
                operate(sets.getFirst().set().listen(0), silent.port());
                rest();
                finish();
            }
        } finally {
            over = true;
        }
        sets.forEach(SetUnderTest::closePeer);
        messages = world.sides().values().stream().mapToLong(Side::received).sum();
        operators.forEach(operator -> connections += operator.calls());
    }

    private void startSets() {
        sets.add(new SetUnderTest(world, shape.server(), threadPrefix() + "server", address, countersFolder));
        for (int i = 0; i < shape.clients().size(); i++) {
            sets.add(new SetUnderTest(world, shape.clients().get(i), threadPrefix() + "client-" + i, address, countersFolder));
        }
        choring = thread("chores", this::doChores);
    }

    private Thread thread(final String name, final Runnable task) {
        return Thread.ofPlatform().daemon().name(threadPrefix() + name).start(task);
    }

    /** Passes the chores to the polling threads, some of them late. */
    private void doChores() {
        final SplittableRandom delays = world.random(-1);
        while (!over) {
            int left = world.chores().size();
            for (Chore chore; left > 0 && (chore = world.chores().poll()) != null; left--) {
                final boolean isLate = !world.isCalm() && delays.nextInt(4) == 0;
                if (isLate || !chore.submit()) {
                    world.chores().add(chore);
                }
            }
            LockSupport.parkNanos(CHECK_NS);
        }
    }

    private void operate(final int port, final int silentPort) throws InterruptedException {
        final AtomicInteger left = new AtomicInteger(shape.connections());
        final List<SetUnderTest> clients = sets.subList(1, sets.size());
        for (int i = 0; i < shape.operators(); i++) {
            final Operator operator =
                new Operator(world, sets.getFirst(), clients, address, port, silentPort, left, random.split());
            operators.add(operator);
            threads.add(thread("operator-" + i, operator));
        }
        final Operator vanishing =
            new Operator(world, sets.getFirst(), clients, address, port, silentPort, left, random.split());
        threads.add(thread("vanishing", () -> {
            for (int i = 0; i < shape.vanishing(); i++) {
                vanishing.vanish();
            }
        }));
        if (shape.setEnd() != ConnectionShape.SetEnd.NONE) {
            final int endsAt = random.nextInt(shape.connections());
            final SetUnderTest ended = sets.get(random.nextInt(sets.size()));
            await("operators", () -> left.get() > endsAt && isAlive() ? "the end of a set" : null);
            end(ended);
        }
        await("operators", () -> isAlive() ? "operators" : null);
    }

    private boolean isAlive() {
        return threads.stream().anyMatch(Thread::isAlive);
    }

    private void end(final SetUnderTest ended) {
        switch (shape.setEnd()) {
            case CLOSED_AT_ONCE -> ended.close(random.nextBoolean() ? 0 : Long.MIN_VALUE);
            case CLOSED_IN_ORDER -> expectClosed(ended);
            case CLOSED_BY_CALLBACK -> ended.endByCallback();
            case PIPELINE_CLOSED -> ended.closePipeline();
            default -> {
                // It lives on.
            }
        }
    }

    private void expectClosed(final SetUnderTest set) {
        if (!set.close(PATIENCE_NS)) {
            throw new SceneHangs(set.name() + " is not closed: " + shown(set.sides().stream()
                .filter(side -> side.reason() == null).toList()));
        }
    }

    /** Ends all that has begun: refused and retained messages, claims, sequences, and connections with one side. */
    private void rest() {
        world.calm(true);
        world.sides().values().forEach(side -> side.execute(side::rest));
        final Model model = new Model(world);
        await("rest", () -> unfinished(model));
        if (!shape.isHarmful()) {
            probe(model.pairs().stream().filter(ConnectionScene::isLive).toList());
        }
    }

    private String unfinished(final Model model) {
        // A close without time goes on with the next one; a callback that has begun before the rest may begin it now.
        sets.stream().filter(SetUnderTest::isClosing).forEach(this::expectClosed);
        final Set<Side> unfinished = new LinkedHashSet<>();
        for (final Side side : world.sides().values()) {
            if (isLive(side) && !side.isRaw() && (!side.hasSent() || side.hasChores() || side.isRefusing() ||
                side.operations().underWay() > 0)) {
                unfinished.add(side);
            }
        }
        for (final List<Side> pair : model.pairs()) {
            if (isLive(pair)) {
                if (pair.getFirst().sent() != pair.getLast().received() || pair.getLast().sent() != pair.getFirst().received()) {
                    unfinished.addAll(pair);
                }
            } else if (pair.getFirst().reason() != null ^ pair.getLast().reason() != null) {
                unfinished.addAll(pair);
            }
        }
        return unfinished.isEmpty() ? null : shown(List.copyOf(unfinished));
    }

    private static boolean isLive(final Side side) {
        return side.reason() == null && !side.isClosed();
    }

    private static boolean isLive(final List<Side> pair) {
        return pair.stream().allMatch(ConnectionScene::isLive);
    }

    /**
     * The sides send in turns. A message returns all credits that its side owes; a few handled messages wait for others before
     * their credits are owed, so that not each one finds the whole window.
     */
    private void probe(final List<List<Side>> pairs) {
        List<List<Side>> left = pairs;
        for (int i = 0; i < MOST_PROBES && !left.isEmpty(); i++) {
            probe(left, 0, 1);
            probe(left, 1, 0);
            final boolean hadAll = i + 1 >= Side.MOST_RECEIVES_OF_POST;
            left = left.stream()
                .filter(pair -> isLive(pair) && !(hadAll && pair.stream().allMatch(Side::hasWholeWindow))).toList();
        }
        left.forEach(pair -> pair.forEach(Side::requireWholeWindow));
    }

    private void probe(final List<List<Side>> pairs, final int from, final int to) {
        for (final List<Side> pair : pairs) {
            pair.get(to).expectProbe();
            while (!pair.get(from).execute(() -> pair.get(from).sendMore(1)) && isLive(pair)) {
                LockSupport.parkNanos(CHECK_NS);
            }
        }
        await("probes", () -> {
            final List<Side> waiting = pairs.stream().filter(pair -> isLive(pair) && !pair.get(to).isProbed())
                .flatMap(List::stream).toList();
            return waiting.isEmpty() ? null : shown(waiting);
        });
    }

    /** Closes all sets in the middle of new traffic. */
    private void finish() throws InterruptedException {
        world.calm(false);
        world.sides().values().forEach(side -> side.execute(() -> side.sendMore(LAST_MESSAGES)));
        LockSupport.parkNanos(random.nextLong(TimeUnit.MILLISECONDS.toNanos(2)));
        switch (shape.finish()) {
            case CLIENTS_FIRST -> sets.subList(1, sets.size()).forEach(this::expectClosed);
            case SERVER_FIRST -> expectClosed(sets.getFirst());
            case AT_ONCE -> sets.forEach(set -> set.close(0));
            default -> {
                final List<Thread> closing = sets.stream().map(set -> thread("closing", () -> set.close(PATIENCE_NS))).toList();
                for (final Thread thread : closing) {
                    thread.join();
                }
            }
        }
        sets.forEach(this::expectClosed);
        over = true;
        // It may have taken one, to put it back.
        choring.join();
        for (Chore chore = world.chores().poll(); chore != null; chore = world.chores().poll()) {
            chore.run();
        }
        new Model(world).check();
        sets.forEach(SetUnderTest::check);
    }

    /** Waits while there is something to wait for. */
    private void await(final String what, final Supplier<String> unfinished) {
        final long startNs = System.nanoTime();
        for (String left = unfinished.get(); left != null; left = unfinished.get()) {
            if (System.nanoTime() - startNs > PATIENCE_NS) {
                throw new SceneHangs("waited in vain for " + what + ": " + left);
            }
            LockSupport.parkNanos(CHECK_NS);
        }
    }

    private static String shown(final List<Side> sides) {
        return sides.size() + " sides: " + sides.subList(0, Math.min(MOST_SHOWN, sides.size()));
    }
}
