package io.ringpoll.mutation;

import io.ringpoll.mutation.KnownSurvivors.Kind;
import io.ringpoll.mutation.Mutant.Outcome;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The score of the tests of a module, compared with the list of known survivors. */
final class Score {
    private static final double ALL = 100;

    private final String module;
    private final List<Mutant> mutants;
    private final int population;
    private final KnownSurvivors known;

    /** The interval for the tried mutants, out of {@code population}. */
    Score(final String module, final List<Mutant> mutants, final int population, final KnownSurvivors known) {
        this.module = module;
        this.mutants = mutants;
        this.population = population;
        this.known = known;
    }

    private long count(final Outcome outcome) {
        return mutants.stream().filter(mutant -> mutant.outcome() == outcome).count();
    }

    private long equivalent() {
        return mutants.stream().filter(mutant -> !mutant.isKilled() && known.kind(mutant.key()) == Kind.EQUIVALENT).count();
    }

    private long killed() {
        return mutants.stream().filter(Mutant::isKilled).count();
    }

    private long counted() {
        return mutants.size() - equivalent();
    }

    /** The killed share of the mutants that are not equivalent, in per cent. */
    double percent() {
        return counted() == 0 ? ALL : ALL * killed() / counted();
    }

    void print(final PrintStream out) {
        out.printf(Locale.ROOT, "%-8s %5d of %5d mutants: %5d killed by a test, %d by its time limit, %d by loss of the JVM; ",
            module, mutants.size(), population, count(Outcome.KILLED), count(Outcome.TIMED_OUT), count(Outcome.CRASHED));
        out.printf(Locale.ROOT, "%d survived, %d not covered, %d equivalent; score %.1f %%", killable(Outcome.SURVIVED),
            killable(Outcome.NOT_COVERED), equivalent(), percent());
        if (mutants.size() < population) {
            final Interval interval = Interval.of(killed(), counted());
            out.printf(Locale.ROOT, " (95 %%: %.1f to %.1f)", ALL * interval.low(), ALL * interval.high());
        }
        out.println();
    }

    private long killable(final Outcome outcome) {
        return mutants.stream()
            .filter(mutant -> mutant.outcome() == outcome && known.kind(mutant.key()) != Kind.EQUIVALENT).count();
    }

    /** Survivors without a reason. */
    List<String> unexplained() {
        return mutants.stream().filter(mutant -> !mutant.isKilled() && known.kind(mutant.key()) == null)
            .map(Mutant::key).sorted().toList();
    }

    /** Mutants on the list as equivalent that a test has killed. */
    List<String> killedEquivalents() {
        return mutants.stream().filter(mutant -> mutant.isKilled() && known.kind(mutant.key()) == Kind.EQUIVALENT)
            .map(Mutant::key).sorted().toList();
    }

    /** Entries of the list without a mutant; restricted to the requested classes. */
    List<String> gone(final Set<String> all, final Set<String> classes) {
        return known.keys().stream().filter(key -> !all.contains(key) && classes.contains(key.substring(0, key.indexOf(": "))
            .replaceAll("\\.[^.]+$", ""))).sorted().toList();
    }
}
