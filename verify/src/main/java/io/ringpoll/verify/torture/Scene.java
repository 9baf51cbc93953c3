package io.ringpoll.verify.torture;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.fault.FaultKind;
import io.ringpoll.fault.FaultOperation;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.fault.FaultRule;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * One scene of the torture: its topology, its work and its planned faults, all drawn from its seed.
 *
 * @param seed     its seed
 * @param topology its topology
 * @param plan     its fault plan; empty in some scenes
 */
record Scene(long seed, Topology topology, Optional<FaultPlan> plan) {
    /** For the rare RNR fault, which takes a third of a second each. */
    private static final int ONE_IN_OF_RARE = 40;
    private static final FaultKind[] COMMON = {
        FaultKind.STATUS, FaultKind.STATUS, FaultKind.STATUS, FaultKind.FULL, FaultKind.DISCONNECT, FaultKind.POLL,
        FaultKind.DELAY, FaultKind.REORDER,
        FaultKind.SPURIOUS_EVENT, FaultKind.LATE_EVENT,
    };
    /** The operations of {@link Work}. */
    private static final FaultOperation[] PLAYED = {
        FaultOperation.SEND, FaultOperation.WRITE, FaultOperation.WRITE_WITH_IMMEDIATE, FaultOperation.READ,
        FaultOperation.RECEIVE,
    };
    private static final int POLLS_PER_OPERATION = 100;
    private static final int APART = 4;
    private static final int MAX_RULES = 5;
    private static final int MAX_LATE_NS = 3_000_000;

    static Scene of(final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final Topology topology = Topology.draw(random);
        return new Scene(seed, topology, draw(seed, random, topology));
    }

    /** The same scene without its faults, for devices that take no plan. */
    Scene withoutFaults() {
        return new Scene(seed, topology, Optional.empty());
    }

    /** The random numbers of one kind of work of the scene, independent of all other kinds. */
    SplittableRandom random(final long purpose) {
        return new SplittableRandom(seed ^ purpose * 0x9E37_79B9_7F4A_7C15L);
    }

    private static Optional<FaultPlan> draw(final long seed, final SplittableRandom random, final Topology topology) {
        final FaultPlan.Builder builder = FaultPlan.builder().seed(random.nextLong());
        if (random.nextInt(3) != 0) {
            builder.rule(statusInTurn(seed, random, topology));
        }
        for (int rules = random.nextInt(MAX_RULES); rules > 0; rules--) {
            builder.rule(when(random, what(random), topology));
        }
        return builder.isEmpty() ? Optional.empty() : Optional.of(builder.build());
    }

    /** A status that is likely on most queues, a different one in each scene: a few dozen scenes cover all. */
    private static FaultRule statusInTurn(final long seed, final SplittableRandom random, final Topology topology) {
        final FaultOperation operation = random.nextBoolean() ? FaultOperation.ANY : PLAYED[random.nextInt(PLAYED.length)];
        final int status = WcStatus.LOC_LEN_ERR + Math.floorMod(seed, WcStatus.GENERAL_ERR);
        final int share = operation == FaultOperation.ANY ? 1 : PLAYED.length;
        return FaultRule.status(status, operation).at(1 + random.nextInt(1 + topology.operations() / share));
    }

    private static FaultRule what(final SplittableRandom random) {
        final int rare = random.nextInt(ONE_IN_OF_RARE);
        if (rare == 0) {
            return FaultRule.of(FaultKind.RECEIVER_NOT_READY);
        }
        if (rare == 1) {
            return FaultRule.of(FaultKind.OVERRUN);
        }
        final FaultKind kind = COMMON[random.nextInt(COMMON.length)];
        return switch (kind) {
            case STATUS -> FaultRule.status(
                random.nextInt(WcStatus.LOC_LEN_ERR, WcStatus.GENERAL_ERR + 1),
                FaultOperation.values()[random.nextInt(FaultOperation.values().length)]);
            case FULL, REORDER -> FaultRule.repeated(kind, 1 + random.nextInt(20));
            case POLL -> FaultRule.repeated(kind, 1 + random.nextInt(3));
            case DELAY, LATE_EVENT -> FaultRule.late(kind, 1 + random.nextInt(MAX_LATE_NS));
            default -> FaultRule.of(kind);
        };
    }

    private static FaultRule when(final SplittableRandom random, final FaultRule what, final Topology topology) {
        // There are many more polls than operations, and each failed poll changes the duty cycle.
        final int operations = (what.kind() == FaultKind.POLL ? POLLS_PER_OPERATION : 2) * topology.operations();
        final int object = random.nextInt(3) == 0 ? 1 + random.nextInt(4 * topology.connections()) : 0;
        final boolean harmless = switch (what.kind()) {
            case STATUS, DISCONNECT, OVERRUN, RECEIVER_NOT_READY -> false;
            default -> true;
        };
        // Waiting for room in a queue that is always full would never end.
        final int apart = what.kind() == FaultKind.FULL ? APART * what.times() : 0;
        final FaultRule rule;
        if (random.nextInt(3) == 0) {
            rule = what.oneIn(2 + apart + operations / 8 + random.nextInt(2 * operations));
        } else if (harmless && random.nextBoolean()) {
            rule = what.at(1 + random.nextInt(operations)).every(apart + operations / 4 + 10 + random.nextInt(operations));
        } else {
            rule = what.at(1 + random.nextInt(operations));
        }
        return rule.ofObject(object);
    }

    @Override
    public String toString() {
        return "seed " + seed + ": " + topology + ", faults " + plan.map(FaultPlan::toString).orElse("none");
    }
}
