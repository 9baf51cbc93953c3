package io.ringpoll.mutation;

import java.io.File;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.pitest.mutationtest.MutationResult;
import org.pitest.mutationtest.config.PluginServices;
import org.pitest.mutationtest.config.ReportOptions;
import org.pitest.mutationtest.engine.MutationDetails;
import org.pitest.mutationtest.engine.MutationIdentifier;
import org.pitest.mutationtest.tooling.AnalysisResult;
import org.pitest.mutationtest.tooling.EntryPoint;
import org.pitest.testapi.TestGroupConfig;
import org.pitest.util.Glob;
import org.pitest.util.Verbosity;

/** The mutants of one module, its own tests and those of its dependents. Runs PIT; its plug-ins find this object. */
final class ModuleRun {
    private static final String PROPERTY = "io.ringpoll.mutation.run";
    private static final float TIMEOUT_FACTOR = 3;

    private final Module module;
    private final Path root;
    private final Sample sample;
    private final Duration patience;
    private final KnownSurvivors known;
    private final PrintStream out;
    private final MutantKeys mutantKeys;
    private final Map<MutationIdentifier, String> keys = new HashMap<>();
    private final List<Mutant> mutants = new ArrayList<>();

    ModuleRun(final Module module, final Path root, final Sample sample, final Duration patience, final KnownSurvivors known,
        final PrintStream out) {
        this.module = module;
        this.root = root;
        this.sample = sample;
        this.patience = patience;
        this.known = known;
        this.out = out;
        mutantKeys = new MutantKeys(module.sources(root));
    }

    static ModuleRun of(final Properties properties) {
        return (ModuleRun) properties.get(PROPERTY);
    }

    /** Runs the tests against the mutants of the classes that match; their results are in {@link #mutants} afterwards. */
    void run(final List<String> classes, final List<String> onlyTests, final int threads, final boolean isolate) {
        final ReportOptions options = new ReportOptions();
        final Properties properties = new Properties();
        properties.put(PROPERTY, this);
        options.setFreeFormProperties(properties);
        options.setTargetClasses(classes);
        final Set<String> tests = module.tests(root);
        final Collection<Predicate<String>> chosen = Glob.toGlobPredicates(onlyTests);
        options.setTargetTests(List.of(name -> tests.contains(name) &&
            (chosen.isEmpty() || chosen.stream().anyMatch(glob -> glob.test(name)))));
        options.setCodePaths(List.of(module.classes(root).toString()));
        options.setSourceDirs(List.of(module.sources(root)));
        options.setReportDir(root.resolve("verify/mutation/target/report").toString());
        options.setGroupConfig(new TestGroupConfig().withExcludedGroups("cluster"));
        options.setNumberOfThreads(threads);
        options.setMutationUnitSize(isolate ? 1 : 0);
        options.setTimeoutConstant(patience.toMillis());
        options.setTimeoutFactor(TIMEOUT_FACTOR);
        options.setMutationEngine("gregor");
        options.setMutators(List.of());
        options.setFeatures(List.of());
        // A test of a page finds its sources elsewhere; the excluded ones are printed.
        options.setSkipFailingTests(true);
        options.setFailWhenNoMutations(false);
        options.setVerbosity(Boolean.getBoolean("io.ringpoll.mutation.verbose") ? Verbosity.VERBOSE_NO_SPINNER :
            Verbosity.QUIET);
        options.addOutputFormats(List.of(RunListenerFactory.NAME));
        options.addChildJVMArgs(List.of(System.getProperty("io.ringpoll.mutation.flags").split(" ")));
        options.setClassPathElements(List.of(System.getProperty("java.class.path").split(File.pathSeparator)));
        options.setProjectBase(root.resolve(module.folder()));
        // PIT prints its own tables there, without relation to the list.
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        final AnalysisResult result = new EntryPoint().execute(root.resolve(module.folder()).toFile(), options,
            PluginServices.makeForContextLoader(), Map.of());
        System.setOut(out);
        result.getError().ifPresent(error -> {
            throw new IllegalStateException("the run over " + module.folder() + " failed: " + error, error);
        });
    }

    /** Computes the keys of the mutants of a class, and keeps those in the sample. */
    Collection<MutationDetails> choose(final Collection<MutationDetails> mutantsOfClass) {
        final Map<MutationIdentifier, String> names = mutantKeys.of(mutantsOfClass);
        synchronized (this) {
            keys.putAll(names);
        }
        return mutantsOfClass.stream().filter(mutant -> sample.contains(names.get(mutant.getId()))).toList();
    }

    synchronized void onResult(final MutationResult result) {
        final Mutant.Outcome outcome = switch (result.getStatus()) {
            case SURVIVED -> Mutant.Outcome.SURVIVED;
            case NO_COVERAGE -> Mutant.Outcome.NOT_COVERED;
            case TIMED_OUT -> Mutant.Outcome.TIMED_OUT;
            case MEMORY_ERROR, RUN_ERROR -> Mutant.Outcome.CRASHED;
            default -> {
                if (!result.getStatus().isDetected()) {
                    throw new IllegalStateException(result + " has no outcome");
                }
                yield Mutant.Outcome.KILLED;
            }
        };
        final Mutant mutant = new Mutant(keys.get(result.getDetails().getId()), outcome);
        mutants.add(mutant);
        if (!mutant.isKilled() && known.kind(mutant.key()) == null) {
            out.println(mutant.outcome().label() + ", not on the list: " + mutant.key());
        } else if (outcome == Mutant.Outcome.TIMED_OUT || outcome == Mutant.Outcome.CRASHED) {
            out.println(mutant.outcome().label() + ": " + mutant.key());
        }
    }

    /** Prints a test that cannot kill a mutant because it fails on unchanged code. */
    synchronized void onExcluded(final String test) {
        out.println("fails on unchanged code, not used: " + test);
    }

    /** Prints each finished class, since all of them take long. */
    synchronized void onClass(final String name) {
        out.println("done: " + name + ", " + mutants.size() + " mutants so far, " +
            mutants.stream().filter(Mutant::isKilled).count() + " killed");
    }

    List<Mutant> mutants() {
        return mutants;
    }

    /** All mutants, whether in the sample or not. */
    Set<String> allKeys() {
        return new TreeSet<>(keys.values());
    }
}
