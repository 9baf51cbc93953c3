package io.ringpoll.internal.tuning.doctor;

import java.util.Set;
import java.util.function.Function;

/**
 * One check of the doctor: its description, and the method that examines the machine. Immutable.
 *
 * @param id          stable name, for scripts and for the table of sources in {@code docs/operations/doctor.md}
 * @param subject     the examined setting or device, in a few words
 * @param why         its effect on completions, in one sentence
 * @param effect      the size of that effect
 * @param scope       who can change the setting
 * @param verdicts    the possible results
 * @param examination performs the check; never throws, never writes
 */
public record Check(String id, String subject, String why, Effect effect, Scope scope, Set<Verdict> verdicts,
                    Function<Examined, Finding> examination) {
    Check(final String id, final String subject, final String why, final Effect effect, final Scope scope,
          final Function<Examined, Finding> examination, final Verdict... verdicts) {
        this(id, subject, why, effect, scope, Set.of(verdicts), examination);
    }
}
