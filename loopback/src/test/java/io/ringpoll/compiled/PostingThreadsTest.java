package io.ringpoll.compiled;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.device.Device;
import io.ringpoll.testing.JavaProcess;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A connection that several threads post to and another closes, in a JVM of its own, which may crash. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class PostingThreadsTest {
    @Test
    void shouldSurviveACloseUnderSeveralPostingThreads() {
        final String output = JavaProcess.create().property(Device.DEVICE_PROPERTY, "loopback").watchingSafepoints()
            .option("-XX:+UseSerialGC").option("-Xmx64m").run(PostingThreads.class);
        assertTrue(output.endsWith(PostingThreads.END), output);
    }
}
