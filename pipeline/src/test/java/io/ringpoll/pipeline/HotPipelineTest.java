package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.device.Device;
import io.ringpoll.testing.JavaProcess;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compiled pollers reach safepoints, with handler threads and running to completion. */
@Timeout(value = 200, unit = TimeUnit.SECONDS)
class HotPipelineTest {
    private static final int TIMEOUT_SECONDS = 180;

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+TieredCompilation", "-XX:-TieredCompilation"})
    void shouldReachSafepointsInCompiledPollers(final String option) {
        final String output = JavaProcess.create().property(Device.DEVICE_PROPERTY, "loopback").watchingSafepoints()
            .timeoutSeconds(TIMEOUT_SECONDS).option(option).option("-XX:+UseSerialGC").option("-Xmx64m").run(HotPipeline.class);
        assertTrue(output.endsWith(HotPipeline.END), output);
    }
}
