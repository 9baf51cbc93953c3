package io.ringpoll.mutation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.pitest.mutationtest.engine.MutationDetails;
import org.pitest.mutationtest.engine.MutationIdentifier;

/**
 * Computes keys of mutants that are stable when other parts of the file change: class, method, kind of change and the text of the
 * source line. Mutants that are equal in all of these are numbered in byte code order.
 */
final class MutantKeys {
    private static final Pattern LAMBDA = Pattern.compile("lambda\\$(.+)\\$\\d+");
    private static final String PACKAGE = "io.ringpoll.";

    private final Path sources;
    private final Map<String, List<String>> files = new HashMap<>();

    MutantKeys(final Path sources) {
        this.sources = sources;
    }

    /** The keys of the mutants of one class; needs all of them. */
    Map<MutationIdentifier, String> of(final Collection<MutationDetails> mutantsOfClass) {
        final Map<String, Integer> seen = new HashMap<>();
        final Map<MutationIdentifier, String> keys = new HashMap<>();
        mutantsOfClass.stream()
            .sorted(Comparator.comparing(MutationDetails::getLineNumber).thenComparing(MutationDetails::getFirstIndex))
            .forEach(mutant -> {
                final String base = base(mutant);
                final int number = seen.merge(base, 1, Integer::sum);
                keys.put(mutant.getId(), number == 1 ? base : base + " #" + number);
            });
        return keys;
    }

    private String base(final MutationDetails mutant) {
        final String method = LAMBDA.matcher(mutant.getMethod()).replaceAll("$1");
        final String change = mutant.getDescription().replaceAll("io/ringpoll/(\\w+/)*", "").replaceAll(" for [^ ]+$", "");
        return mutant.getClassName().asJavaName().substring(PACKAGE.length()) + "." + method + ": " + change + ": " +
            line(mutant);
    }

    private String line(final MutationDetails mutant) {
        final String name = mutant.getClassName().getPackage().asInternalName() + "/" + mutant.getFilename();
        final List<String> lines = files.computeIfAbsent(name, this::read);
        return lines.get(mutant.getLineNumber() - 1).strip();
    }

    private List<String> read(final String name) {
        try {
            return Files.readAllLines(sources.resolve(name));
        } catch (final IOException e) {
            throw new IllegalStateException("the source of a mutant cannot be read: " + e, e);
        }
    }
}
