package io.ringpoll.verify.torture.processes;

import io.ringpoll.fault.FaultKind;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.fault.FaultRule;
import io.ringpoll.pipeline.WaitMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * The parts of a scene, drawn from its seed.
 *
 * @param pollers     number of pollers of each process
 * @param ringSize    slots of each ring
 * @param idle        wait of the pollers
 * @param handlerWait wait of the handlers
 * @param peers       the lives of one or two peers, one after the other
 * @param plan        faults of the survivor's device, without failures; empty in most scenes
 */
record ProcessShape(
    int pollers, int ringSize, WaitMode idle, WaitMode handlerWait, List<List<Life>> peers, Optional<FaultPlan> plan) {
    private static final WaitMode[] WAITS = {WaitMode.YIELD, WaitMode.SLEEP, WaitMode.BLOCK, WaitMode.BLOCK};
    private static final FaultKind[] FAULTS = {
        FaultKind.DELAY, FaultKind.REORDER, FaultKind.SPURIOUS_EVENT, FaultKind.LATE_EVENT,
    };
    private static final int MOST_RING_BITS = 9;
    private static final int MOST_LATE_NS = 3_000_000;

    static ProcessShape draw(final SplittableRandom random, final boolean isLoopback) {
        final List<List<Life>> peers = new ArrayList<>();
        for (int peer = 1 + random.nextInt(2); peer > 0; peer--) {
            final List<Life> lives = new ArrayList<>();
            for (int life = 1 + random.nextInt(3); life > 0; life--) {
                lives.add(Life.draw(random));
            }
            peers.add(lives);
        }
        return new ProcessShape(1 + random.nextInt(2), 2 << random.nextInt(MOST_RING_BITS), WAITS[random.nextInt(WAITS.length)],
            WAITS[random.nextInt(WAITS.length)], peers,
            isLoopback && random.nextInt(4) == 0 ? Optional.of(drawPlan(random)) : Optional.empty());
    }

    private static FaultPlan drawPlan(final SplittableRandom random) {
        final FaultPlan.Builder builder = FaultPlan.builder().seed(random.nextLong());
        for (int rules = 1 + random.nextInt(3); rules > 0; rules--) {
            final FaultKind kind = FAULTS[random.nextInt(FAULTS.length)];
            final FaultRule what = switch (kind) {
                case REORDER -> FaultRule.repeated(kind, 1 + random.nextInt(3));
                case DELAY, LATE_EVENT -> FaultRule.late(kind, 1 + random.nextInt(MOST_LATE_NS));
                default -> FaultRule.of(kind);
            };
            builder.rule(what.oneIn(2 + random.nextInt(50)));
        }
        return builder.build();
    }
}
