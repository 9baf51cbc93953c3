package io.ringpoll.compiled;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.device.Device;
import io.ringpoll.testing.JavaProcess;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Loops around critical calls reach safepoints when C2 has compiled them, which keeps no poll of their own
 * ({@code docs/internals/jdk-critical-loop.md}).
 */
@Timeout(value = 200, unit = TimeUnit.SECONDS)
class HotLoopTest {
    private static final int TIMEOUT_SECONDS = 180;

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+TieredCompilation", "-XX:-TieredCompilation"})
    void shouldReachSafepointsInCompiledLoops(final String option) {
        final String output = process(option).property(Device.DEVICE_PROPERTY, "loopback").run(HotLoop.class);
        assertTrue(output.endsWith(HotLoop.END), output);
    }

    @Test
    void shouldReachSafepointsByAPlainCallNowAndThen() {
        final String output = process("-XX:+TieredCompilation").run(CriticalLoop.class, "bounded");
        assertEquals("bounded: 200 rounds", output);
    }

    private static JavaProcess process(final String option) {
        return JavaProcess.create().watchingSafepoints().timeoutSeconds(TIMEOUT_SECONDS).option(option)
            .option("-XX:+UseSerialGC").option("-Xmx64m");
    }
}
