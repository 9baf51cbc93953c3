package io.ringpoll.verify.fuzz;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Feeds targets in turns with nearly valid inputs, until one is neither accepted nor rejected with one line. Used by one thread.
 */
public final class Fuzzer {
    private static final long SLOW_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int LONGEST_REFUSAL = 4_000;

    private final List<FuzzTarget> targets;
    private final long firstSeed;
    private final long inputs;
    private final BooleanSupplier over;

    private long taken;
    private long refused;

    /**
     * Creates a fuzzer.
     *
     * @param targets   targets to feed
     * @param firstSeed seed of the first input; each further one has the next
     * @param inputs    number for each target, or 0 for no limit
     * @param over      whether the time is over; called after each turn
     */
    public Fuzzer(final List<FuzzTarget> targets, final long firstSeed, final long inputs, final BooleanSupplier over) {
        this.targets = List.copyOf(targets);
        this.firstSeed = firstSeed;
        this.inputs = inputs;
        this.over = over;
    }

    /**
     * Feeds the targets.
     *
     * @return the first finding; empty if each input was accepted, or rejected with one line
     */
    public Optional<Finding> run() {
        for (long turn = 0; inputs > 0 ? turn < inputs : turn == 0 || !over.getAsBoolean(); turn++) {
            for (final FuzzTarget each : targets) {
                final int inTurn = inputs > 0 ? 1 : each.inputsInTurn();
                for (int i = 0; i < inTurn; i++) {
                    final Finding finding = feed(each, firstSeed + turn * inTurn + i);
                    if (finding != null) {
                        return Optional.of(finding);
                    }
                }
            }
        }
        return Optional.empty();
    }

    /**
     * Accepted inputs.
     *
     * @return their number
     */
    public long taken() {
        return taken;
    }

    /**
     * Inputs rejected with one line.
     *
     * @return their number
     */
    public long refused() {
        return refused;
    }

    /** Null if the input was accepted, or rejected correctly. */
    private Finding feed(final FuzzTarget each, final long inputSeed) {
        final byte[] input = new Mutator(inputSeed).input(each.examples());
        final long startNs = System.nanoTime();
        String what = null;
        try {
            each.read(input);
            taken++;
        } catch (final FuzzTarget.Refused wrong) {
            refused++;
            final String said = wrong.getMessage();
            if (said == null || said.isBlank() || said.lines().count() != 1 || said.length() > LONGEST_REFUSAL) {
                what = "was not refused in one line, but by: " + said;
            }
        } catch (final RuntimeException | AssertionError thrown) {
            final StackTraceElement[] trace = thrown.getStackTrace();
            what = "caused " + thrown + (trace.length > 0 ? " at " + trace[0] : "");
        }
        if (what == null && System.nanoTime() - startNs > SLOW_NS) {
            what = "took longer than " + TimeUnit.NANOSECONDS.toSeconds(SLOW_NS) + " s";
        }
        return what == null ? null : new Finding(each.name(), inputSeed, input, what);
    }
}
