package io.ringpoll.bench.replicate;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class StreamRunTest {
    @ParameterizedTest
    @EnumSource(names = {"RINGPOLL", "NETTY"})
    void shouldFindEqualBytesAtAllServers(final Transport transport) throws Exception {
        final ReplicateConfig config =
            new ReplicateConfig("127.0.0.1", 100, 100, 2, 0, TimeUnit.MILLISECONDS.toNanos(300), true, false);
        final StreamRun.Result result =
            new StreamRun(config, 3_000_000, 1_000_000, Contestant.of(transport, Map.of())).run();
        assertTrue(result.megabytesPerSecond() > 0, result.toString());
        assertTrue(result.cpuUsPerMegabyte() > 0, result.toString());
    }
}
