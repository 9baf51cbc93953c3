package io.ringpoll.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every field of a rule reaches the device, which then injects faults where the plan in Java predicts them. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class DeviceFollowsPlanTest {
    private static final int POSTS = 60;

    private final Completions completions = new Completions();

    @BeforeAll
    static void requireLoopback() {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device takes a fault plan");
    }

    /** Posts a write of nothing; its status, or -1 if the queue was full. */
    private int write(final ConnectedPair pair) {
        if (!pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1)) {
            return -1;
        }
        return completions.awaitOne(pair.client().completionQueue()).status();
    }

    @ParameterizedTest
    @ValueSource(strings = {"full@2", "full:3@2", "full@4+5", "full:3@4+7", "seed=9,full@~3", "seed=9,full:2@~9",
        "poll@1000000,full@~3", "poll@1000000,disconnect@1000000,full:2@5+11", "full:60@1#1", "full:60@1#2"})
    void shouldRefusePostsAsPlanned(final String text) {
        final FaultPlan plan = FaultPlan.parse(text);
        try (FaultInjection injection = FaultInjection.apply(plan); ConnectedPair pair = ConnectedPair.ofDefaults()) {
            assertEquals(plan, injection.plan());
            int refused = 0;
            for (int n = 1; n <= POSTS; n++) {
                final boolean triggers = plan.trigger(FaultKind.FULL, FaultOperation.ANY, 1, n).isPresent();
                assertEquals(triggers ? -1 : WcStatus.SUCCESS, write(pair), "post " + n);
                refused += triggers ? 1 : 0;
            }
            assertEquals(refused, injection.injected(plan.rules().size() - 1));
        }
    }

    @Test
    void shouldStrikeOnlyOperationsOfTheRulesKind() {
        try (FaultInjection injection = FaultInjection.apply(FaultPlan.parse("status:retry-exc-err:send@1"));
            ConnectedPair pair = ConnectedPair.ofDefaults()) {
            assertEquals(WcStatus.SUCCESS, write(pair));
            assertEquals(0, injection.injected());
        }
        try (FaultInjection injection = FaultInjection.apply(FaultPlan.parse("status:rem-op-err:write@1"));
            ConnectedPair pair = ConnectedPair.ofDefaults()) {
            assertEquals(WcStatus.REM_OP_ERR, write(pair));
            assertEquals(1, injection.injected());
        }
    }

    @Test
    void shouldDelayForAsLongAsTheRuleSays() {
        try (FaultInjection injection = FaultInjection.apply(FaultPlan.parse("delay:300ms@1"));
            ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final long startNs = System.nanoTime();
            assertEquals(WcStatus.SUCCESS, write(pair));
            assertTrue(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(290));
            assertEquals(1, injection.injected());
        }
    }

    @Test
    void shouldKeepTheCountsOfAPlanThatAnotherReplaces() {
        final FaultInjection first = FaultInjection.apply(FaultPlan.parse("full@1"));
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            assertEquals(-1, write(pair));
        }
        try (FaultInjection second = FaultInjection.apply(FaultPlan.parse("full@1"))) {
            assertEquals(1, first.injected());
            assertEquals(0, second.injected());
        }
        first.close();
        assertEquals(1, first.injected());
    }
}
