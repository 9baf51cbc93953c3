package io.ringpoll.internal.tuning.doctor;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Performs all checks. It only reads, and needs no root. */
public final class Doctor {
    private static final List<Check> CHECKS = Stream.of(
        JvmChecks.all(), HeapChecks.all(), JvmNoiseChecks.all(),
        PlaceChecks.all(), IsolationChecks.all(), InterruptChecks.all(), HousekeepingChecks.all(),
        FrequencyChecks.all(), IdleStateChecks.all(), ProcessorChecks.all(), HypervisorChecks.all(),
        MemoryChecks.all(), PageChecks.all(),
        LibraryChecks.all(), DeviceChecks.all(), PcieChecks.all(), NetworkChecks.all(),
        RoceChecks.all()).flatMap(List::stream).toList();

    private Doctor() {
    }

    /**
     * All checks, in the order of execution.
     *
     * @return the checks
     */
    public static List<Check> checks() {
        return CHECKS;
    }

    /**
     * Performs all checks, and adapts the commands to the surroundings of the process.
     *
     * @param machine to examine
     * @return a result per check, in order
     */
    public static List<CheckResult> examine(final Examined machine) {
        return CHECKS.stream().map(check -> new CheckResult(check,
            Remedies.adapted(check, check.examination().apply(machine), machine.surroundings()))).toList();
    }

    /**
     * The results that ask for an action, the most valuable first.
     *
     * @param results the results of all checks
     * @return the warnings and bad results: the worst verdict first, then the largest effect, then in order
     */
    public static List<CheckResult> byValue(final List<CheckResult> results) {
        return results.stream().filter(CheckResult::needsAction).sorted(CheckResult.BY_VALUE).toList();
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
