package io.ringpoll.internal.tuning.doctor;

import java.util.Comparator;

/**
 * A performed check with its finding. Immutable.
 *
 * @param check   the check
 * @param finding the finding
 */
public record CheckResult(Check check, Finding finding) {
    /** The worst verdict first, then the largest effect. */
    static final Comparator<CheckResult> BY_VALUE = Comparator
        .comparing((CheckResult result) -> result.finding().verdict()).reversed()
        .thenComparing(result -> result.check().effect());

    /**
     * Whether the result asks for an action.
     *
     * @return true for a warning and for a bad result
     */
    public boolean needsAction() {
        return finding.verdict() == Verdict.WARNING || finding.verdict() == Verdict.BAD;
    }
}
