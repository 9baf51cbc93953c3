package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.poller.EventDrivenIdle;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PollerConfigTest {
    private static PollerConfig config(final WaitMode idle, final long spinNs, final HandlerThreads handlers,
        final WaitMode handlerWait) {
        return new PollerConfig(false, -1, idle, spinNs, handlers, handlerWait);
    }

    @ParameterizedTest
    @EnumSource
    void shouldIdleAsConfigured(final WaitMode idle) {
        assertInstanceOf(idle.newIdleStrategy().getClass(),
            config(idle, 5, HandlerThreads.POLLER, WaitMode.BLOCK).newIdleStrategy());
    }

    @Test
    void shouldSleepByDefault() {
        final PollerConfig own = PollerConfig.own(HandlerThreads.ONE);
        assertInstanceOf(EventDrivenIdle.class, own.newIdleStrategy());
        assertEquals(config(WaitMode.BLOCK, EventDrivenIdle.DEFAULT_SPIN_NS, HandlerThreads.ONE, WaitMode.BLOCK), own);
    }

    /** Nodes with equal settings share a poller. */
    @Test
    void shouldCompareSettingsWithEffectOnly() {
        final HandlerThreads poller = HandlerThreads.POLLER;
        final HandlerThreads one = HandlerThreads.ONE;
        assertEquals(config(WaitMode.YIELD, 5, poller, WaitMode.BLOCK), config(WaitMode.YIELD, 7, poller, WaitMode.BLOCK));
        assertNotEquals(config(WaitMode.BLOCK, 5, poller, WaitMode.BLOCK), config(WaitMode.BLOCK, 7, poller, WaitMode.BLOCK));
        assertEquals(config(WaitMode.BLOCK, 5, poller, WaitMode.YIELD), config(WaitMode.BLOCK, 5, poller, WaitMode.SLEEP));
        assertNotEquals(config(WaitMode.BLOCK, 5, one, WaitMode.YIELD), config(WaitMode.BLOCK, 5, one, WaitMode.SLEEP));
    }
}
