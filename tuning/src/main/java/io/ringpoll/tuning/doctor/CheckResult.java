package io.ringpoll.tuning.doctor;

/**
 * A check and what it found.
 *
 * @param check   the check
 * @param finding what it found
 */
public record CheckResult(Check check, Finding finding) {
}
