package io.ringpoll.mutation;

import io.ringpoll.mutation.KnownSurvivors.Kind;
import io.ringpoll.mutation.Mutant.Outcome;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** What a module's tests achieved, beside the list of known survivors. */
final class Score {
    private static final double ALL = 100;

    private final String module;
    private final List<Mutant> mutants;
    private final KnownSurvivors known;

    Score(final String module, final List<Mutant> mutants, final KnownSurvivors known) {
        this.module = module;
        this.mutants = mutants;
        this.known = known;
    }

    private long count(final Outcome outcome) {
        return mutants.stream().filter(mutant -> mutant.outcome() == outcome).count();
    }

    private long equivalent() {
        return mutants.stream().filter(mutant -> !mutant.isKilled() && known.kind(mutant.key()) == Kind.EQUIVALENT).count();
    }

    /** The killed among those that are not equivalent, in per cent. */
    double percent() {
        final long counted = mutants.size() - equivalent();
        return counted == 0 ? ALL : ALL * count(Outcome.KILLED) / counted;
    }

    void print(final PrintStream out) {
        out.printf(Locale.ROOT, "%-10s %6d mutants %6d killed %6d survived %6d not covered %6d equivalent   score %5.1f %%%n",
            module, mutants.size(), count(Outcome.KILLED), count(Outcome.SURVIVED), count(Outcome.NOT_COVERED), equivalent(),
            percent());
    }

    /** Survivors without a reason. */
    List<String> unexplained() {
        return mutants.stream().filter(mutant -> !mutant.isKilled() && known.kind(mutant.key()) == null)
            .map(Mutant::key).sorted().toList();
    }

    /** Equivalent ones that a test has killed, which therefore are not equivalent. */
    List<String> killedEquivalents() {
        return mutants.stream().filter(mutant -> mutant.isKilled() && known.kind(mutant.key()) == Kind.EQUIVALENT)
            .map(Mutant::key).sorted().toList();
    }

    /** Entries of the list for which there is no mutant any more; the classes' names choose those that were asked for. */
    List<String> gone(final Set<String> all, final Set<String> classes) {
        return known.keys().stream().filter(key -> !all.contains(key) && classes.contains(key.substring(0, key.indexOf(": "))
            .replaceAll("\\.[^.]+$", ""))).sorted().toList();
    }
}
