package io.ringpoll.mutation;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs the tests against mutants, prints the score by module, and fails for each survivor without a reason on the list. */
@Command(name = "mutate", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
    description = "Changes single instructions of the libraries and counts the changes that their tests notice.")
public final class MutationCommand implements Callable<Integer> {
    private static final int FAILED = 1;

    @Parameters(paramLabel = "MODULE",
        description = "native, loopback, poller, pipeline, connections, tuning, ratis; all if none is given")
    private List<Module> modules = List.of();

    @Option(names = "--classes", split = ",", defaultValue = "io.ringpoll.*", paramLabel = "GLOB",
        description = "mutate only classes with these names")
    private List<String> classes;

    @Option(names = "--tests", split = ",", paramLabel = "GLOB",
        description = "run only test classes with these names, for work on the tests of one class")
    private List<String> tests = List.of();

    @Option(names = "--sample", defaultValue = "100", paramLabel = "PERCENT",
        description = "mutate a share of the instructions, each with the same probability; the score then has a confidence " +
            "interval of 95 %%: about 4 points to each side for 200 mutants")
    private double percent;

    @Option(names = "--seed", defaultValue = "1", description = "seed of the sample")
    private int seed;

    @Option(names = "--threads", defaultValue = "1", description = "JVMs at a time")
    private int threads;

    @Option(names = "--patience", defaultValue = "15", paramLabel = "SECONDS",
        description = "time of a test beyond that on unchanged code, before its mutant counts as killed by the time limit")
    private int patience;

    @Option(names = "--isolate", description = "a JVM for each mutant: for classes that keep objects in static fields")
    private boolean isolate;

    @Option(names = "--at-least", defaultValue = "90", paramLabel = "PERCENT", description = "the lowest score that passes")
    private double atLeast;

    private final Path root = Path.of(System.getProperty("io.ringpoll.mutation.root")).toAbsolutePath();

    private MutationCommand() {
    }

    /**
     * Runs it.
     *
     * @param arguments of the command line
     */
    public static void main(final String... arguments) {
        System.exit(new CommandLine(new MutationCommand()).setCaseInsensitiveEnumValuesAllowed(true)
            .setOverwrittenOptionsAllowed(true).execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        final List<Score> scores = new ArrayList<>();
        boolean passed = true;
        final PrintStream out = System.out;
        for (final Module module : modules.isEmpty() ? List.of(Module.values()) : modules) {
            final KnownSurvivors known =
                KnownSurvivors.read(root.resolve("verify/mutation/survivors").resolve(module.folder() + ".txt"));
            final ModuleRun run = new ModuleRun(module, root, new Sample(percent, seed), Duration.ofSeconds(patience),
                known, out);
            run.run(classes, tests, threads, isolate);
            final Score score = new Score(module.folder(), run.mutants(), run.allKeys().size(), known);
            final Set<String> seen = run.allKeys().stream()
                .map(key -> key.substring(0, key.indexOf(": ")).replaceAll("\\.[^.]+$", "")).collect(Collectors.toSet());
            passed &= score.unexplained().isEmpty();
            passed &= report(out, "listed as equivalent, but killed", score.killedEquivalents());
            passed &= report(out, "listed, but no mutant any more", score.gone(run.allKeys(), seen));
            passed &= score.percent() >= atLeast;
            scores.add(score);
        }
        scores.forEach(score -> score.print(out));
        return passed ? 0 : FAILED;
    }

    private static boolean report(final PrintStream out, final String what, final List<String> keys) {
        keys.forEach(key -> out.printf("%s: %s%n", what, key));
        return keys.isEmpty();
    }
}
