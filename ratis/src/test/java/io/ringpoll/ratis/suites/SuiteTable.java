package io.ringpoll.ratis.suites;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.impl.MiniRaftCluster;
import org.apache.ratis.util.TimeDuration;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs the engine's suites over this transport and over its own Netty transport, and prints a table of the results.
 *
 * <p>Arguments: names of suites, or {@code SUITE#TEST} for a single test; all suites if none. {@code --names} prints the names
 * instead. The property {@code ringpoll.suites.electionMs} is the minimum election time-out, for machines that are too slow for
 * the engine's 150 ms; the client's time-out scales with it. With {@code ringpoll.suites.transport=ringpoll} or {@code netty},
 * only this one is run.
 * Causes of failed and aborted tests are written to standard error. {@code verify/ratis/suites} calls it.
 */
public final class SuiteTable {
    private static final String TEST_TIMEOUT = "200 s";
    /** A client's time-out as a multiple of the minimum election time-out, as with the engine's 3 s and 150 ms. */
    private static final int REQUEST_BY_ELECTION = 20;

    private SuiteTable() {
    }

    /** Runs and prints; exits with 1 if a suite ran no test, or failed over this transport only. */
    public static void main(final String[] names) {
        // The suites print: their output must not mix with the table.
        final PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true);
        System.setOut(new PrintStream(PrintStream.nullOutputStream()));
        if (names.length == 1 && names[0].equals("--names")) {
            names(SuitesOverRdma.class).forEach(out::println);
            return;
        }
        final String transport = System.getProperty("ringpoll.suites.transport", "");
        out.println("| suite | over ringpoll | s | failed | over Netty | s | failed |");
        out.println("| --- | --- | --- | --- | --- | --- | --- |");
        boolean onlyHere = false;
        boolean isEmpty = false;
        for (final String selected : names.length > 0 ? List.of(names) : names(SuitesOverRdma.class)) {
            out.print("| " + selected + " | ");
            final TestExecutionSummary here = transport.equals("netty") ? null : run(SuitesOverRdma.class, selected);
            out.print(cells(here));
            out.flush();
            final TestExecutionSummary there = transport.equals("ringpoll") ? null : run(SuitesOverNetty.class, selected);
            isEmpty |= hasNoTest(here) || here == null && hasNoTest(there);
            onlyHere |= here != null && here.getTestsFailedCount() > 0 && (there == null || there.getTestsFailedCount() == 0);
            out.println(cells(there).strip());
        }
        // The engine leaves threads running.
        System.exit(onlyHere || isEmpty ? 1 : 0);
    }

    /** Of a suite that was run: without a test, or with one for which the class path has no engine, it has shown nothing. */
    private static boolean hasNoTest(final TestExecutionSummary summary) {
        return summary != null && summary.getTestsSucceededCount() + summary.getTestsFailedCount() +
            summary.getTestsAbortedCount() == 0;
    }

    private static List<String> names(final Class<?> holder) {
        return Arrays.stream(holder.getDeclaredClasses()).map(Class::getSimpleName).sorted().toList();
    }

    /** Prints the result of each test, also for a suite that does not end, and the causes of those that did not succeed. */
    private static final class Results implements TestExecutionListener {
        private final PrintStream log = System.err;

        @Override
        public void executionFinished(final TestIdentifier test, final TestExecutionResult result) {
            if (test.isTest() || result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
                log.println(test.getUniqueId() + ": " + result.getStatus());
            }
            result.getThrowable().ifPresent(reason -> reason.printStackTrace(log));
        }
    }

    private static TestExecutionSummary run(final Class<?> holder, final String selected) {
        // Each suite expects a JVM of its own: the settings of one must not affect the next.
        final RaftProperties properties = MiniRaftCluster.Factory.Get.PROPERTIES.get();
        properties.clear();
        final Integer electionMs = Integer.getInteger("ringpoll.suites.electionMs");
        if (electionMs != null) {
            RaftServerConfigKeys.Rpc.setTimeoutMin(properties, TimeDuration.valueOf(electionMs, TimeUnit.MILLISECONDS));
            RaftServerConfigKeys.Rpc.setTimeoutMax(properties, TimeDuration.valueOf(2 * electionMs, TimeUnit.MILLISECONDS));
            RaftClientConfigKeys.Rpc.setRequestTimeout(properties,
                TimeDuration.valueOf(REQUEST_BY_ELECTION * electionMs, TimeUnit.MILLISECONDS));
        }
        final SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(LauncherDiscoveryRequestBuilder.request().selectors(selector(holder, selected))
            .configurationParameter("junit.jupiter.execution.timeout.testable.method.default", TEST_TIMEOUT).build(), listener,
            new Results());
        return listener.getSummary();
    }

    private static DiscoverySelector selector(final Class<?> holder, final String selected) {
        final String name = holder.getName() + "$" + selected;
        return selected.contains("#") ? selectMethod(name) : selectClass(name);
    }

    /** Three columns, empty ones if the suite was not run. */
    private static String cells(final TestExecutionSummary summary) {
        if (summary == null) {
            return " |  |  | ";
        }
        final String failed = summary.getFailures().stream().map(failure -> failure.getTestIdentifier().getDisplayName()).sorted()
            .collect(Collectors.joining(", "));
        final long seconds = (summary.getTimeFinished() - summary.getTimeStarted()) / 1000;
        final long found = summary.getTestsFoundCount() - summary.getTestsSkippedCount();
        return summary.getTestsSucceededCount() + " of " + found + " | " + seconds + " | " + failed + " | ";
    }
}
