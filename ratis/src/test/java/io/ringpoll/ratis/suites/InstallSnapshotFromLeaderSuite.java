package io.ringpoll.ratis.suites;

import org.apache.ratis.InstallSnapshotFromLeaderTests;
import org.apache.ratis.server.impl.MiniRaftCluster;
import org.junit.jupiter.api.Test;

/**
 * The engine's suite with its methods annotated as tests, which the engine leaves to subclasses.
 *
 * @param <C> the cluster under test
 */
abstract class InstallSnapshotFromLeaderSuite<C extends MiniRaftCluster> extends InstallSnapshotFromLeaderTests<C>
    implements MiniRaftCluster.Factory.Get<C> {
    @Test
    @Override
    public void testMultiFileInstallSnapshot() throws Exception {
        super.testMultiFileInstallSnapshot();
    }

    @Test
    @Override
    public void testSeparateSnapshotInstallPath() throws Exception {
        super.testSeparateSnapshotInstallPath();
    }

    @Test
    @Override
    public void testInstallSnapshotLeaderSwitch() throws Exception {
        super.testInstallSnapshotLeaderSwitch();
    }
}
