package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.pipeline.PolledQueue;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.FailurePolicy;
import io.ringpoll.pipeline.HandlerOptions;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.pipeline.PipelineGroup;
import io.ringpoll.pipeline.PipelineStartException;
import io.ringpoll.verify.torture.supervised.SceneHangs;
import io.ringpoll.verify.torture.supervised.SupervisedScene;
import io.ringpoll.verify.torture.supervised.Violations;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Plays one scene: creates queues and pipelines, lets operators call them, closes everything, and checks the result with the
 * model.
 *
 * <p>Used by one thread, which starts and joins the others.
 */
final class LifecycleScene implements SupervisedScene {
    private static final long PATIENCE_MS = TimeUnit.SECONDS.toMillis(60);
    private static final long SETTLE_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long LONGEST_ABRUPT_NS = TimeUnit.MICROSECONDS.toNanos(500);
    /** A close with more time would wait for half of it for an agent that nobody invokes. */
    private static final long ABANDONED_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final int INTERRUPTED_START_ONE_IN = 16;

    private final long seed;
    private final RdmaApi api;
    private final String address;
    private final Path countersFolder;
    private final SplittableRandom random;
    private final Shape shape;
    private final Violations violations = new Violations();
    private final World world;
    private final Deque<AutoCloseable> toClose = new ArrayDeque<>();
    private final List<Operator> operators = new ArrayList<>();
    private long completions;
    private long calls;

    LifecycleScene(final long seed, final RdmaApi api, final String address, final Path countersFolder) {
        this.seed = seed;
        this.api = api;
        this.address = address;
        this.countersFolder = countersFolder;
        this.random = new SplittableRandom(seed);
        this.shape = Shape.draw(random, Device.current().kind() == DeviceKind.LOOPBACK);
        this.world = new World(shape, violations);
    }

    @Override
    public String threadPrefix() {
        return "lifecycle-" + Long.toHexString(seed) + '-';
    }

    @Override
    public Shape shape() {
        return shape;
    }

    @Override
    public Violations violations() {
        return violations;
    }

    @Override
    public long events() {
        return completions;
    }

    @Override
    public long operations() {
        return calls;
    }

    @Override
    public void play() throws InterruptedException {
        try {
            makeQueues();
            if (start()) {
                operate();
            }
            end();
        } finally {
            closeAll();
        }
    }

    private void makeQueues() {
        final EventFd events = shape.shared() ? closed(new EventFd()) : null;
        for (int i = 0; i < shape.scripted(); i++) {
            add(new ScriptedQueue(nextNumber(), shape.slowPolls(), events, violations));
        }
        for (int i = 0; i < shape.synthetic(); i++) {
            add(new SyntheticQueue(nextNumber(), shape.ringSize(), random.split(), violations));
        }
        if (shape.links() > 0) {
            final RcPeer peer = closed(api.ofLocal(address));
            world.opened(peer.context());
            for (int i = 0; i < shape.links(); i++) {
                final Link link = closed(new Link(nextNumber(), address, peer, shape, random.split(),
                    Device.current().kind() == DeviceKind.LOOPBACK, violations));
                for (final EndpointState endpoint : link.endpoints()) {
                    world.queues().add(new EndpointQueue(nextNumber(), endpoint, PolledQueue.of(endpoint.connection()), true));
                }
                for (final EndpointState endpoint : link.endpoints()) {
                    PolledQueue.ofReceives(endpoint.connection()).ifPresent(
                        queue -> world.queues().add(new EndpointQueue(nextNumber(), endpoint, queue, false)));
                }
            }
        }
    }

    private int nextNumber() {
        return world.queues().size() + 1;
    }

    private void add(final TorturedQueue queue) {
        world.queues().add(closed(queue));
    }

    private <T extends AutoCloseable> T closed(final T resource) {
        toClose.push(resource);
        return resource;
    }

    /** Starts the pipelines; false if they did not start, which the scene must have intended. */
    private boolean start() {
        final boolean interrupted = random.nextInt(INTERRUPTED_START_ONE_IN) == 0;
        for (int i = 0; i < shape.pipelines(); i++) {
            world.pipelines().add(new PipelineUnderTest(threadPrefix() + i, violations));
        }
        final List<PipelineBuilder> builders = world.pipelines().stream().map(this::describe).toList();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        try {
            if (builders.size() == 1) {
                world.pipelines().getFirst().started(builders.getFirst().start());
            } else {
                final PipelineGroup group = PipelineGroup.start(builders.size(), builders::get);
                world.formed(group);
                for (int i = 0; i < builders.size(); i++) {
                    world.pipelines().get(i).started(group.pipelines().get(i));
                }
            }
            // Handlers on an agent's threads start with the agent.
            violations.expect(shape.hook() != Shape.Hook.ON_START || shape.agents() && shape.runToCompletion(),
                "a pipeline started although a handler threw in onStart");
            violations.expect(!shape.doubledQueue(), "a pipeline started although a queue was described twice");
            if (shape.agents()) {
                world.pipelines().forEach(pipeline -> pipeline.drive(shape, random.split()));
            }
            return true;
        } catch (final IllegalStateException | IllegalArgumentException refused) {
            violations.expect(shape.doubledQueue(), "the start was refused: " + refused);
            world.queues().forEach(TorturedQueue::detach);
            return false;
        } catch (final PipelineStartException notStarted) {
            violations.expect(interrupted || shape.mayStartLate() || shape.hook() == Shape.Hook.ON_START,
                "the start failed: " + notStarted);
            world.queues().forEach(TorturedQueue::detach);
            return false;
        } finally {
            Thread.interrupted();
        }
    }

    private PipelineBuilder describe(final PipelineUnderTest subject) {
        final PipelineBuilder builder = Pipeline.builder().name(subject.name()).ringSize(shape.ringSize())
            .batchLimit(shape.batchLimit()).startTimeoutNs(shape.startTimeoutNs())
            .shutdownTimeoutNs(random.nextInt(2) * TimeUnit.SECONDS.toNanos(1))
            .onUndelivered(completion -> {
                subject.onUndelivered();
                world.onCompletion(completion, completion.path(), "onUndelivered");
                throwIn(Shape.Hook.ON_LEFT_OVER);
            })
            .onFailure((pipeline, threadName, failure) -> throwIn(Shape.Hook.ON_FAILURE));
        if (shape.agents()) {
            builder.asAgent();
        } else {
            builder.idleStrategy(shape.newIdleStrategy());
        }
        if (shape.countersFile()) {
            builder.countersFolder(countersFolder);
        } else {
            builder.withoutCountersFile();
        }
        if (shape.runToCompletion()) {
            builder.runToCompletion();
        }
        for (final CompletionPath path : CompletionPath.values()) {
            addHandler(builder, subject, path, EnumSet.of(path), false);
            if (shape.staged()) {
                addHandler(builder, subject, null, EnumSet.of(path), true);
            }
        }
        if (shape.observed()) {
            addHandler(builder, subject, null, EnumSet.allOf(CompletionPath.class), false);
        }
        for (final TorturedQueue queue : world.queues()) {
            if (queue.owner() == null && random.nextInt(2) == 0) {
                queue.attach();
                queue.ownedBy(subject, false);
                builder.queue(queue.queue());
            }
        }
        if (shape.doubledQueue()) {
            final CompletionQueue queue = world.queues().getFirst().queue();
            world.queues().getFirst().attach();
            builder.queue(queue).queue(queue);
        }
        return builder;
    }

    private void addHandler(
        final PipelineBuilder builder, final PipelineUnderTest subject, final CompletionPath path,
        final EnumSet<CompletionPath> paths, final boolean stage) {
        final String name = subject.name() + '-' + (path == null ? stage ? "stage-of-" + paths : "observer" : path);
        final TortureHandler handler =
            new TortureHandler(name, path, world, random.split(), new Operator(world, random.split(), subject));
        subject.add(handler);
        final Consumer<HandlerOptions> options = given -> {
            given.name(name).failurePolicy(shape.halting() ? FailurePolicy.HALT : FailurePolicy.CONTINUE)
                .idleTimeoutNs(shape.idleTimeoutNs());
            if (!shape.runToCompletion()) {
                given.waitStrategy(shape.handlerWait());
                if (path != null && shape.maxHeld() > 0) {
                    given.maxHeld(shape.maxHeld());
                }
            }
        };
        if (stage) {
            builder.then(handler, options);
        } else {
            builder.on(paths, handler, options);
        }
    }

    private void throwIn(final Shape.Hook hook) {
        if (shape.hook() == hook) {
            throw new TortureHandler.Planned();
        }
    }

    private void operate() throws InterruptedException {
        for (int i = 0; i < shape.operators(); i++) {
            final Operator operator = new Operator(world, random.split(), null);
            operators.add(operator);
            world.operators().add(new Thread(() -> {
                for (int call = 0; call < shape.calls(); call++) {
                    operator.call();
                }
            }, threadPrefix() + "operator-" + i));
        }
        world.running(true);
        world.operators().forEach(Thread::start);
        final long deadlineMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime()) + PATIENCE_MS;
        for (final Thread thread : world.operators()) {
            thread.join(Math.max(1, deadlineMs - TimeUnit.NANOSECONDS.toMillis(System.nanoTime())));
            if (thread.isAlive()) {
                throw new SceneHangs(thread.getName() + " does not end");
            }
        }
        world.running(false);
        operators.forEach(operator -> calls += operator.calls());
    }

    private void end() {
        world.queues().forEach(TorturedQueue::stopFeeding);
        world.release(Integer.MAX_VALUE);
        final Thread giver = Thread.ofPlatform().daemon().name(threadPrefix() + "giver").start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                world.release(Integer.MAX_VALUE);
                Thread.onSpinWait();
            }
        });
        long lost = 0;
        if (world.group() != null && random.nextBoolean()) {
            world.group().close();
        }
        for (final PipelineUnderTest pipeline : world.pipelines()) {
            final boolean abrupt = random.nextInt(3) == 0;
            if (abrupt) {
                makeBusy();
                LockSupport.parkNanos(random.nextLong(LONGEST_ABRUPT_NS));
            }
            final boolean abandoned = shape.agents() && random.nextInt(4) == 0;
            if (abandoned) {
                pipeline.abandonAgent();
            }
            final long patienceNs = abandoned ? ABANDONED_NS : PipelineUnderTest.PATIENCE_NS;
            lost += pipeline.end(abrupt ? random.nextLong(LONGEST_ABRUPT_NS) : patienceNs);
        }
        giver.interrupt();
        // The giver may not have run since the handlers held their last slots.
        world.release(Integer.MAX_VALUE);
        final long missing = settle(lost);
        violations.expect(missing >= 0 && missing <= lost, "completions that nobody got: " + missing +
            ", and the rings account for " + lost + "; " + world.queues().stream().filter(queue -> queue.missing() != 0)
                .map(TorturedQueue::describeMissing).toList());
        completions = world.queues().stream().mapToLong(TorturedQueue::ended).sum();
    }

    /**
     * Ends the connections and takes their last completions, again and again while there are fewer than there must be: on a busy
     * machine the kernel flushes a queue pair long after the disconnect.
     *
     * @param lost completions that the rings account for
     * @return those that nobody got
     */
    private long settle(final long lost) {
        final long startNs = System.nanoTime();
        long missing;
        do {
            world.queues().forEach(TorturedQueue::settle);
            missing = world.queues().stream().mapToLong(TorturedQueue::missing).sum();
        } while (missing > lost && System.nanoTime() - startNs < SETTLE_NS);
        return missing;
    }

    /** Lets the pipelines run into the middle of polling and handling. */
    private void makeBusy() {
        final Operator operator = new Operator(world, random.split(), null);
        for (int i = 0; i < 2 * world.queues().size() && world.pipelines().getFirst().pipeline() != null; i++) {
            Action.RESUME.perform(operator);
            Action.ADD_QUEUE.perform(operator);
        }
        world.queues().forEach(queue -> queue.feed(random));
    }

    private void closeAll() {
        while (!toClose.isEmpty()) {
            try {
                toClose.pop().close();
            } catch (final Exception failed) {
                violations.unexpected("the close of the scene's objects", failed);
            }
        }
    }
}
