package io.ringpoll.mutation;

import java.util.Properties;
import org.pitest.coverage.CoverageData;
import org.pitest.mutationtest.ClassMutationResults;
import org.pitest.mutationtest.ListenerArguments;
import org.pitest.mutationtest.MutationResultListener;
import org.pitest.mutationtest.MutationResultListenerFactory;

/** PIT plug-in that passes results to the run. */
public final class RunListenerFactory implements MutationResultListenerFactory {
    static final String NAME = "RINGPOLL";

    /** Creates the plug-in; called by PIT. */
    public RunListenerFactory() {
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "Results for the comparison with the known survivors";
    }

    @Override
    public MutationResultListener getListener(final Properties properties, final ListenerArguments arguments) {
        final ModuleRun run = ModuleRun.of(properties);
        if (arguments.getCoverage() instanceof final CoverageData coverage) {
            coverage.getFailingTestDescriptions().forEach(test -> run.onExcluded(test.getQualifiedName()));
        }
        return new RunListener(run);
    }

    /** Receives the results of one class after the other. */
    private static final class RunListener implements MutationResultListener {
        private final ModuleRun run;

        private RunListener(final ModuleRun run) {
            this.run = run;
        }

        @Override
        public void runStart() {
        }

        @Override
        public void handleMutationResult(final ClassMutationResults results) {
            results.getMutations().forEach(run::onResult);
            run.onClass(results.getMutatedClass().asJavaName());
        }

        @Override
        public void runEnd() {
        }
    }
}
