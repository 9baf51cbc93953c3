package io.ringpoll.internal.tuning.doctor;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Performs all checks. It only reads, and needs no root. */
public final class Doctor {
    private static final List<Check> CHECKS = Stream.of(JvmChecks.all(), PlaceChecks.all(), ProcessorChecks.all(),
        KernelChecks.all(), MemoryChecks.all(), RdmaChecks.all()).flatMap(List::stream).toList();

    private Doctor() {
    }

    /**
     * All checks, in the order of execution and display.
     *
     * @return the checks
     */
    public static List<Check> checks() {
        return CHECKS;
    }

    /**
     * Performs all checks.
     *
     * @param machine to examine
     * @return a result per check, in order
     */
    public static List<CheckResult> examine(final Examined machine) {
        return CHECKS.stream().map(check -> new CheckResult(check, check.examination().apply(machine))).toList();
    }

    /**
     * The worst of the results.
     *
     * @param results the results
     * @return the worst; {@link Verdict#OK} if there is none
     */
    public static Verdict worst(final List<CheckResult> results) {
        return results.stream().map(result -> result.finding().verdict()).max(Comparator.naturalOrder()).orElse(Verdict.OK);
    }
}
