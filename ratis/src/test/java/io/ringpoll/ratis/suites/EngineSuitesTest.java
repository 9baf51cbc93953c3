package io.ringpoll.ratis.suites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.ratis.server.impl.MiniRaftCluster;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Tests of the engine's own suites, selected to send every kind of request in a short time. {@link SuiteTable} runs all of them.
 */
@Tag("cluster")
class EngineSuitesTest {
    static Stream<String> chosen() {
        return Stream.of("RaftAsync#testStaleReadAsync", "LeaderElection#testTransferLeader",
            "RaftReconfiguration#testAddPeers", "ReadOnlyRequest#testLinearizableRead",
            "ReadOnlyRequest#testFollowerLinearizableRead", "RetryCache#testBasicRetry",
            "MessageStreamApi#testStream", "MessageStreamApi#testStreamAsync", "OutputStream#testWriteAndFlush",
            "OutputStream#testWriteWithOffset", "DataStreamChain#testSingleStreamsMultipleServers",
            "DataStreamStar#testStreamWrites");
    }

    @ParameterizedTest
    @MethodSource("chosen")
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void shouldPassTheEnginesOwnTests(final String test) {
        final String name = SuitesOverRdma.class.getName() + "$" + test;
        // Each suite expects a JVM of its own: the settings of one must not affect the next.
        MiniRaftCluster.Factory.Get.PROPERTIES.get().clear();
        final SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create()
            .execute(LauncherDiscoveryRequestBuilder.request().selectors(selectMethod(name)).build(), listener);
        final TestExecutionSummary summary = listener.getSummary();
        summary.getFailures().forEach(failure -> {
            throw new AssertionError(failure.getTestIdentifier().getDisplayName(), failure.getException());
        });
        assertEquals(1, summary.getTestsSucceededCount(), "tests passed by " + test);
    }
}
