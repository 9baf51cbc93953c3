package io.ringpoll.verify.device;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClasspathRoots;

import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs the tests that need a device, of the named classes and jars, in one JVM, and writes a line for each:
 * {@code RESULT CLASS.TEST}.
 *
 * <p>For {@code ./ringpoll softroce suite} and {@code ./ringpoll softroce ratis}. It is minimal, because each loaded class costs
 * time on an emulated CPU: the JUnit console takes longer to start there than a test class to run.
 */
public final class DeviceSuite implements TestExecutionListener {
    private final PrintStream results;
    private final PrintStream console;
    private long startedNs;
    private int failures;
    private int finished;

    private DeviceSuite(final PrintStream results, final PrintStream console) {
        this.results = results;
        this.console = console;
    }

    /**
     * Runs tests; exits with 0 if there were some and none failed.
     *
     * @param args the file for the results, then test classes and jars of test classes
     * @throws IOException if the file cannot be written
     */
    public static void main(final String[] args) throws IOException {
        final List<DiscoverySelector> selectors = new ArrayList<>();
        for (final String what : List.of(args).subList(1, args.length)) {
            if (what.endsWith(".jar")) {
                selectors.addAll(selectClasspathRoots(Set.of(Path.of(what))));
            } else {
                selectors.add(selectClass(what));
            }
        }
        try (PrintStream results = new PrintStream(Files.newOutputStream(Path.of(args[0])), true)) {
            final DeviceSuite suite = new DeviceSuite(results, System.out);
            final Launcher launcher = LauncherFactory.create();
            launcher.execute(LauncherDiscoveryRequestBuilder.request()
                .selectors(selectors)
                .filters(TagFilter.includeTags(TestDevice.TAG), TagFilter.excludeTags(TestDevice.STEADY_STATE_TAG)).forExecution()
                .listeners(suite).build());
            suite.console.println(suite.finished + " ended, " + suite.failures + " failed");
            System.exit(suite.finished > 0 && suite.failures == 0 ? 0 : 1);
        }
    }

    @Override
    public void executionStarted(final TestIdentifier test) {
        startedNs = System.nanoTime();
    }

    @Override
    public void executionSkipped(final TestIdentifier test, final String reason) {
        record("skipped", test, reason);
    }

    @Override
    public void executionFinished(final TestIdentifier test, final TestExecutionResult result) {
        final Status status = result.getStatus();
        if (!test.isTest() && status == Status.SUCCESSFUL) {
            return;
        }
        record(switch (status) {
            case SUCCESSFUL -> "passed";
            case ABORTED -> "skipped";
            case FAILED -> "failed";
        }, test, result.getThrowable().map(Throwable::getMessage).orElse(null));
        if (status == Status.FAILED) {
            failures++;
            result.getThrowable().ifPresent(failure -> failure.printStackTrace(console));
        }
    }

    private void record(final String result, final TestIdentifier test, final String reason) {
        final String container = test.getSource()
            .map(source -> source instanceof MethodSource method ? method.getClassName() + '.' : "").orElse("");
        final String line = result + ' ' + container + test.getLegacyReportingName();
        finished++;
        results.println(line);
        console.printf(
            "%s (%d ms)%s%n", line, (System.nanoTime() - startedNs) / 1_000_000, reason == null ? "" : ": " + reason);
    }
}
