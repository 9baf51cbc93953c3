package io.ringpoll.mutation;

import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import org.pitest.classpath.CodeSource;
import org.pitest.coverage.CoverageDatabase;
import org.pitest.coverage.TestInfo;
import org.pitest.mutationtest.build.DefaultTestPrioritiser;
import org.pitest.mutationtest.build.TestPrioritiser;
import org.pitest.mutationtest.build.TestPrioritiserFactory;
import org.pitest.mutationtest.engine.MutationDetails;

/**
 * PIT plug-in that runs the tests of a mutant in the order of the code that they reach. A test of few classes detects a change by
 * an assertion, immediately; a test of a whole pipeline, though as short on unchanged code, often only by its time limit.
 */
public final class FocusedTestsFirst implements TestPrioritiserFactory {
    /** Time of a test, in milliseconds, that outweighs one more block of reached code. */
    private static final int MS_PER_BLOCK = 5;

    private static final Comparator<TestInfo> ORDER =
        Comparator.comparingInt(test -> test.getTime() + MS_PER_BLOCK * test.getNumberOfBlocksCovered());

    /** Creates the plug-in; called by PIT. */
    public FocusedTestsFirst() {
    }

    @Override
    public String description() {
        return "Tests that reach the least code first";
    }

    @Override
    public TestPrioritiser makeTestPrioritiser(
        final Properties properties, final CodeSource code, final CoverageDatabase coverage) {
        final TestPrioritiser covering = new DefaultTestPrioritiser(coverage);
        return mutant -> inOrder(covering, mutant);
    }

    private static List<TestInfo> inOrder(final TestPrioritiser covering, final MutationDetails mutant) {
        return covering.assignTests(mutant).stream().sorted(ORDER).toList();
    }
}
