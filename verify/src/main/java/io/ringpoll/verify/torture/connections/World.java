package io.ringpoll.verify.torture.connections;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/** The objects of a scene, shared by all its threads; any thread. */
final class World {
    private final long seed;
    private final RdmaApi api;
    private final ConnectionShape shape;
    private final Violations violations;
    private final Map<Long, Side> sides = new ConcurrentHashMap<>();
    private final Queue<Chore> chores = new ConcurrentLinkedQueue<>();
    private final AtomicLong numbers = new AtomicLong();
    private volatile boolean calm;

    World(final long seed, final RdmaApi api, final ConnectionShape shape, final Violations violations) {
        this.seed = seed;
        this.api = api;
        this.shape = shape;
        this.violations = violations;
    }

    /** The binding that makes all connections. */
    RdmaApi api() {
        return api;
    }

    ConnectionShape shape() {
        return shape;
    }

    Violations violations() {
        return violations;
    }

    /** The sides of all connections so far, by their numbers. */
    Map<Long, Side> sides() {
        return sides;
    }

    /** The chores that nobody has taken. */
    Queue<Chore> chores() {
        return chores;
    }

    /** The number of the next side, from 1. */
    long nextNumber() {
        return numbers.incrementAndGet();
    }

    SplittableRandom random(final long purpose) {
        return new SplittableRandom(seed * 31 + purpose);
    }

    /** Whether callbacks only receive and send: what has begun is to be ended. */
    boolean isCalm() {
        return calm;
    }

    void calm(final boolean now) {
        calm = now;
    }
}
