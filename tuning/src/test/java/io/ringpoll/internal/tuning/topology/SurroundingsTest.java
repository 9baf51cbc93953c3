package io.ringpoll.internal.tuning.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.internal.tuning.topology.Surroundings.Kind;
import io.ringpoll.tuning.RecordedTree;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class SurroundingsTest {
    @TempDir
    private Path root;

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "DOCKER|.dockerenv||/.dockerenv",
        "DOCKER|run/.dockerenv||/run/.dockerenv",
        "PODMAN|run/.containerenv||/run/.containerenv",
        "NSPAWN|run/systemd/container|systemd-nspawn|/run/systemd/container",
        "NSPAWN|proc/1/environ|A=1\\x00container=systemd-nspawn\\x00|container=systemd-nspawn",
        "PODMAN|proc/self/environ|container=podman\\x00|container=podman",
        "CONTAINER|proc/1/environ|container=lxc\\x00|container=lxc",
        "KUBERNETES|proc/self/environ|KUBERNETES_SERVICE_HOST=10.0.0.1\\x00|KUBERNETES_SERVICE_HOST",
        "KUBERNETES|proc/self/cgroup|0::/kubepods.slice/pod1/cri-containerd-1.scope|/proc/self/cgroup",
        "DOCKER|proc/1/cgroup|4:cpu:/docker/0123|/proc/1/cgroup",
        "PODMAN|proc/self/cgroup|0::/machine.slice/libpod-1.scope|/proc/self/cgroup",
        "CONTAINER|proc/1/cgroup|0::/lxc.payload.web|/proc/1/cgroup",
        "SERVICE|proc/self/cgroup|0::/system.slice/trading.service|trading.service",
        "SESSION|proc/self/cgroup|0::/user.slice/user-1000.slice/session-2.scope|''",
        "SESSION|proc/self/cgroup|0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.service|''"})
    void shouldRecogniseWhatTheProcessRunsIn(final Kind kind, final String file, final String content, final String evidence) {
        final MachineFiles files = RecordedTree.empty().with(file, content == null ? "" : content).expand(root);
        assertEquals(new Surroundings(kind, evidence), Surroundings.read(files));
    }

    @Test
    void shouldSeeAPodBeforeItsContainer() {
        final MachineFiles files = RecordedTree.empty().with(".dockerenv", "")
            .with("proc/self/environ", "KUBERNETES_SERVICE_HOST=10.0.0.1\\x00").expand(root);
        assertEquals(Kind.KUBERNETES, Surroundings.read(files).kind());
    }
}
