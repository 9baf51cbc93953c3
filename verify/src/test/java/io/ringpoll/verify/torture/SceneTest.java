package io.ringpoll.verify.torture;


import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.fault.FaultKind;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.fault.FaultRule;
import io.ringpoll.internal.rc.RdmaApi;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SceneTest {
    @Test
    void shouldDrawTheSameSceneFromTheSameSeed() {
        final Set<String> different = new HashSet<>();
        for (long seed = 1; seed <= 200; seed++) {
            final Scene scene = Scene.of(seed);
            assertEquals(scene, Scene.of(seed));
            scene.plan().ifPresent(plan -> assertEquals(plan, FaultPlan.parse(plan.toString())));
            different.add(scene.topology() + " " + scene.plan());
        }
        assertEquals(200, different.size());
        final Topology topology = Scene.of(1).topology();
        final Work work = Work.draw(Scene.of(1).random(0), topology);
        final Work again = Work.draw(Scene.of(1).random(0), topology);
        for (int i = 0; i < work.size(); i++) {
            assertEquals(work.kind(i), again.kind(i));
            assertEquals(work.lengthBytes(i), again.lengthBytes(i));
            assertEquals(work.isSignalled(i), again.isSignalled(i));
        }
        assertNotEquals(Scene.of(1).random(0).nextLong(), Scene.of(1).random(1).nextLong());
    }

    @Test
    void shouldPlanEachStatusWithinAHundredScenes() {
        final Set<Integer> planned = new HashSet<>();
        for (long seed = 1; seed <= 100; seed++) {
            Scene.of(seed).plan().ifPresent(plan -> plan.rules().stream()
                .filter(rule -> rule.kind() == FaultKind.STATUS).map(FaultRule::code).forEach(planned::add));
        }
        assertEquals(
            IntStream.rangeClosed(WcStatus.LOC_LEN_ERR, WcStatus.GENERAL_ERR).boxed().collect(Collectors.toSet()), planned);
    }

    @Test
    void shouldPrintTheCommandThatPlaysAFailedSceneAgain() {
        final TortureReport report =
            new TortureReport(RdmaApi.VERBS, DeviceKind.LOOPBACK, 5, 3, 100, 7, 1.5, Scene.of(7),
                List.of("send 3 of endpoint 1 ended 2 times"));
        final StringWriter out = new StringWriter();
        report.print(new PrintWriter(out));
        assertTrue(out.toString().contains("wrong: send 3 of endpoint 1 ended 2 times"), out.toString());
        assertTrue(out.toString().contains("replay: ./ringpoll torture --api verbs --seed 7 --scenes 1"), out.toString());
        assertTrue(report.toJson().contains("\"failedSeed\":7"), report.toJson());
        final Scene withoutFaults = Scene.of(7).withoutFaults();
        assertEquals(Scene.of(7).topology(), withoutFaults.topology());
        assertTrue(withoutFaults.plan().isEmpty());
        final TortureReport elsewhere =
            new TortureReport(RdmaApi.VERBS, DeviceKind.RDMA, 5, 3, 100, 0, 1.5, withoutFaults, List.of("send 3"));
        assertEquals("./ringpoll torture --api verbs --device rdma --seed 7 --scenes 1", elsewhere.replay());
    }
}
