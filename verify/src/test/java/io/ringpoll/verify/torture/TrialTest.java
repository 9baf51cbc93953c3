package io.ringpoll.verify.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.TestDevice;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A few scenes in this process; {@code ./ringpoll torture} plays more of them. */
@Timeout(300)
@Tag(TestDevice.TAG)
class TrialTest {
    @ParameterizedTest
    @CsvSource({"RPMA, 0", "VERBS, 0", "VERBS, 1"})
    void shouldEndAllWorkAsTheModelPredictsOnAnyDevice(final RdmaApi api, final int place) {
        final Scene scene = shortScene(place);
        final Trial trial = new Trial(api, scene, TestDevice.address(), TestDevice.isLoopback());
        assertEquals(List.of(), trial.play(), scene::toString);
        // All receives end, and at least every third request of a send queue.
        assertTrue(trial.ended() >= (long) scene.topology().connections() * scene.topology().operations() / 2, scene::toString);
        assertEquals(0, trial.injected());
    }

    @Test
    void shouldHaveNoFaultsOnDevicesThatTakeNoPlan() {
        assertTrue(shortScene(0).plan().isEmpty());
        assertEquals(Scene.of(shortScene(0).seed()).topology(), shortScene(0).topology());
    }

    /** One of the first scenes whose work is done within seconds on an emulated CPU and logs nothing, without its faults. */
    private static Scene shortScene(final int place) {
        int found = 0;
        long seed = 0;
        while (true) {
            final Scene scene = Scene.of(++seed);
            final Topology topology = scene.topology();
            final boolean isShort = topology.operations() > 10 && topology.operations() < 60;
            if (isShort && topology.connections() > 1 && topology.throwingHandlers() == 0 && found++ == place) {
                return scene.withoutFaults();
            }
        }
    }
}
