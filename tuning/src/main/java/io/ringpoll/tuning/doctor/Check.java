package io.ringpoll.tuning.doctor;

import java.util.Set;
import java.util.function.Function;

/**
 * One thing that the doctor looks at.
 *
 * @param id          its stable name, for scripts
 * @param subject     what it looks at, a few words
 * @param why         why it matters for completions, one sentence
 * @param verdicts    the results that it can have
 * @param examination how it looks; never throws, never writes
 */
public record Check(String id, String subject, String why, Set<Verdict> verdicts, Function<Examined, Finding> examination) {
    Check(final String id, final String subject, final String why, final Function<Examined, Finding> examination,
          final Verdict... verdicts) {
        this(id, subject, why, Set.of(verdicts), examination);
    }
}
