package io.ringpoll.verify.torture;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.AsyncEventType;
import io.ringpoll.completion.AsyncEvents;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.fault.FaultInjection;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.pipeline.PipelineGroup;
import io.ringpoll.pipeline.PipelineReport;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/**
 * Plays one scene: connects, posts all work, waits until everything has ended, closes everything, and checks the result with the
 * model.
 *
 * <p>Used by one thread, which posts, adds queues again after failed polls, and causes disturbances.
 */
final class Trial {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);
    /** An emulated CPU takes seconds for what it does for the first time, and a send waits long for a receive on Soft-RoCE. */
    private static final long PATIENCE_ELSEWHERE_NS = TimeUnit.SECONDS.toNanos(150);
    private static final int DISTURBANCE = 7;
    private static final long DISTURBANCE_ONE_IN = 200;

    private final RdmaApi api;
    private final Scene scene;
    private final String address;
    private final boolean isLoopback;
    private final long patienceNs;
    private final Queue<String> failedQueues = new ConcurrentLinkedQueue<>();
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private final List<EndpointState> endpoints = new CopyOnWriteArrayList<>();
    private final Map<CompletionQueue, Pipeline> owners = new IdentityHashMap<>();
    private final SplittableRandom disturbances;
    private final IdleStrategy idle = new BackoffIdleStrategy();
    private PipelineGroup group;
    private Pipeline paused;
    private boolean progressed;
    private boolean disconnected;
    private long injected;
    private long ended;

    /**
     * Prepares the play.
     *
     * @param isLoopback whether the device is the loopback device, which takes fault plans, counts its objects and flushes
     *                   receives that are posted after the disconnect; Soft-RoCE never completes those
     */
    Trial(final RdmaApi api, final Scene scene, final String address, final boolean isLoopback) {
        this.api = api;
        this.scene = scene;
        this.address = address;
        this.isLoopback = isLoopback;
        this.patienceNs = isLoopback ? PATIENCE_NS : PATIENCE_ELSEWHERE_NS;
        this.disturbances = scene.random(DISTURBANCE);
    }

    /**
     * Plays the scene.
     *
     * @return violations, one line each; empty if there were none
     */
    List<String> play() {
        final FaultInjection injection = scene.plan().map(FaultInjection::apply).orElse(null);
        final Map<String, Long> before = liveObjects();
        try (injection) {
            playUnderPlan();
            final Map<String, Long> after = liveObjects();
            if (!before.equals(after)) {
                violations.add("left behind: of " + before + " there are " + after);
            }
        } catch (final RuntimeException thrown) {
            violations.add("the scene was not played to its end: " + thrown);
        }
        injected = injection == null ? 0 : injection.injected();
        return List.copyOf(violations);
    }

    private Map<String, Long> liveObjects() {
        return isLoopback ? LiveObjects.count() : Map.of();
    }

    /** The number of faults that the plan has injected; after the play. */
    long injected() {
        return injected;
    }

    /** The number of work requests that have ended; after the play. */
    long ended() {
        return ended;
    }

    @SuppressWarnings("try") // closes the subscription
    private void playUnderPlan() {
        try (RcPeer client = api.ofLocal(address); RcPeer server = api.ofLocal(address);
            AsyncEvents.Subscription deaths = AsyncEvents.listen(client.context(), this::onEvent)) {
            group = PipelineGroup.start(scene.topology().pollers(), this::pipeline);
            try {
                Wiring.connect(scene, address, client, server, endpoints);
                endpoints.forEach(endpoint -> Wiring.queues(endpoint).forEach(queue -> owners.put(queue, group.addQueue(queue))));
                post();
                await("sends", () -> endpoints.stream().allMatch(endpoint -> endpoint.hasLostSends() ||
                    endpoint.haveSendsEnded()));
                disconnected = true;
                endpoints.forEach(endpoint -> endpoint.connection().disconnect());
                await("receives", () -> endpoints.stream().allMatch(endpoint -> endpoint.hasLostReceives() ||
                    endpoint.haveReceivesEnded()));
                close();
                violations.addAll(new Model(scene, endpoints).violations());
                count();
            } finally {
                group.close(patienceNs);
                endpoints.forEach(EndpointState::close);
            }
        }
    }

    private void count() {
        for (final EndpointState endpoint : endpoints) {
            for (final Ends ends : List.of(endpoint.sends(), endpoint.receives())) {
                for (int i = 0; i < ends.size(); i++) {
                    ended += ends.count(i);
                }
            }
        }
    }

    private void post() {
        await("room to post", () -> {
            boolean done = true;
            for (final EndpointState endpoint : endpoints) {
                endpoint.postReceives();
                if (endpoint.hasLostSends()) {
                    endpoint.stopPosting();
                }
                if (!endpoint.isDone()) {
                    progressed |= endpoint.postNext();
                    done &= endpoint.isDone();
                }
            }
            disturb();
            return done;
        });
    }

    /** Waits for a condition as long as there is progress, and meanwhile adds queues again. */
    private void await(final String what, final BooleanSupplier condition) {
        long deadlineNs = System.nanoTime() + patienceNs;
        while (!condition.getAsBoolean()) {
            if (isLoopback || !disconnected) {
                endpoints.forEach(EndpointState::postReceives);
            }
            putQueuesBack();
            resume();
            idle.idle(progressed ? 1 : 0);
            if (progressed) {
                progressed = false;
                deadlineNs = System.nanoTime() + patienceNs;
            } else if (System.nanoTime() - deadlineNs > 0) {
                violations.add("waited in vain for " + what);
                return;
            }
        }
    }

    private void close() {
        endpoints.stream().flatMap(endpoint -> Wiring.queues(endpoint).stream()).forEach(this::remove);
        for (final PipelineReport report : group.close(patienceNs)) {
            if (!report.inTime() || report.unhandled() != 0) {
                violations.add("a pipeline left something: " + report);
            }
        }
        for (final Pipeline pipeline : group.pipelines()) {
            if (pipeline.failure() != null) {
                violations.add(pipeline.pollerThread().getName() + " has failed: " + pipeline.failure());
            }
        }
    }

    private void disturb() {
        if (!scene.topology().disturbed() || disturbances.nextLong(DISTURBANCE_ONE_IN) != 0) {
            return;
        }
        final int victim = disturbances.nextInt(endpoints.size());
        if (disturbances.nextBoolean()) {
            putBack(Wiring.queues(endpoints.get(victim)).getFirst());
        } else if (paused == null) {
            paused = group.pipelines().get(victim % group.pipelines().size());
            if (!paused.pause(patienceNs)) {
                violations.add("a pipeline did not pause");
            }
        }
    }

    private void resume() {
        if (paused != null) {
            if (!paused.resume(patienceNs)) {
                violations.add("a pipeline did not resume");
            }
            paused = null;
        }
    }

    private void putQueuesBack() {
        for (String name = failedQueues.poll(); name != null; name = failedQueues.poll()) {
            final String failed = name;
            endpoints.stream().filter(endpoint -> !endpoint.hasLostSends() && !endpoint.hasLostReceives())
                .flatMap(endpoint -> Wiring.queues(endpoint).stream())
                .filter(queue -> queue.name().equals(failed)).forEach(this::putBack);
        }
    }

    /** To its previous pipeline: the order in the ring is checked. */
    private void putBack(final CompletionQueue queue) {
        if (remove(queue)) {
            group.addQueue(queue, ignored -> group.pipelines().indexOf(owners.get(queue)));
        }
    }

    private boolean remove(final CompletionQueue queue) {
        try {
            group.removeQueue(queue);
            return true;
        } catch (final TimeoutException stuck) {
            violations.add(queue.name() + " was not removed: " + stuck.getMessage());
            return false;
        }
    }

    private void onEvent(final AsyncEvent event) {
        if (event.type() == AsyncEventType.CQ_ERR) {
            for (final EndpointState endpoint : endpoints) {
                Wiring.onDeath(endpoint, event);
            }
        }
    }

    private PipelineBuilder pipeline(final int number) {
        final Topology topology = scene.topology();
        final PipelineBuilder builder = Pipeline.builder().name("torture-" + number).withoutCountersFile()
            .ringSize(topology.ringSize()).batchLimit(topology.batchLimit()).idleStrategy(topology.idle().newIdleStrategy());
        for (final CompletionPath path : CompletionPath.values()) {
            builder.on(EnumSet.of(path), recorder(path),
                options -> options.name(path + "-" + number).waitStrategy(topology.handlerWait()));
            if (topology.staged() && path == CompletionPath.SEND_WRITE) {
                builder.then((completion, sequence, endOfBatch) -> { }, options -> options.waitStrategy(topology.handlerWait()));
            }
        }
        return topology.observed() ? builder.onAll(
            recorder(null), options -> options.name("observer-" + number).waitStrategy(topology.handlerWait())) : builder;
    }

    private PathRecorder recorder(final CompletionPath path) {
        return new PathRecorder(path, scene, endpoints, failedQueues, violations);
    }
}
