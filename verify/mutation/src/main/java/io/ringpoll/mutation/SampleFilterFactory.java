package io.ringpoll.mutation;

import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.pitest.bytecode.analysis.ClassTree;
import org.pitest.mutationtest.build.InterceptorParameters;
import org.pitest.mutationtest.build.InterceptorType;
import org.pitest.mutationtest.build.MutationInterceptor;
import org.pitest.mutationtest.build.MutationInterceptorFactory;
import org.pitest.mutationtest.engine.Mutater;
import org.pitest.mutationtest.engine.MutationDetails;
import org.pitest.plugin.Feature;

/** PIT plug-in that excludes hints to the processor and the scheduler, without testable effect, and selects the sample. */
public final class SampleFilterFactory implements MutationInterceptorFactory {
    private static final List<String> HINTS = List.of("removed call to java/lang/Thread::onSpinWait",
        "removed call to java/lang/Thread::yield", "removed call to java/lang/ref/Reference::reachabilityFence");

    /** Creates the plug-in; called by PIT. */
    public SampleFilterFactory() {
    }

    @Override
    public String description() {
        return "Takes a sample of the mutants";
    }

    @Override
    public Feature provides() {
        return Feature.named("SAMPLE").withOnByDefault(true).withDescription(description());
    }

    @Override
    public MutationInterceptor createInterceptor(final InterceptorParameters parameters) {
        return new SampleFilter(ModuleRun.of(parameters.data().getFreeFormProperties()));
    }

    /** Filters the mutants of one class after the other. */
    private static final class SampleFilter implements MutationInterceptor {
        private final ModuleRun run;

        private SampleFilter(final ModuleRun run) {
            this.run = run;
        }

        @Override
        public InterceptorType type() {
            return InterceptorType.FILTER;
        }

        @Override
        public void begin(final ClassTree tree) {
        }

        @Override
        public Collection<MutationDetails> intercept(final Collection<MutationDetails> mutants, final Mutater mutater) {
            final Stream<MutationDetails> seen =
                mutants.stream().filter(mutant -> HINTS.stream().noneMatch(mutant.getDescription()::startsWith));
            return run.choose(seen.toList());
        }

        @Override
        public void end() {
        }
    }
}
