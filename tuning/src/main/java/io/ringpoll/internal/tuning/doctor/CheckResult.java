package io.ringpoll.internal.tuning.doctor;

/**
 * A check and its finding.
 *
 * @param check   the check
 * @param finding the finding
 */
public record CheckResult(Check check, Finding finding) {
}
