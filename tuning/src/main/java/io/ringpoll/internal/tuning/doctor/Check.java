package io.ringpoll.internal.tuning.doctor;

import java.util.Set;
import java.util.function.Function;

/**
 * A check of the doctor.
 *
 * @param id          stable name, for scripts
 * @param subject     the examined thing, in a few words
 * @param why         its effect on completions, in one sentence
 * @param verdicts    the possible results
 * @param examination performs the check; never throws, never writes
 */
public record Check(String id, String subject, String why, Set<Verdict> verdicts, Function<Examined, Finding> examination) {
    Check(final String id, final String subject, final String why, final Function<Examined, Finding> examination,
          final Verdict... verdicts) {
        this(id, subject, why, Set.of(verdicts), examination);
    }
}
