package io.ringpoll.ratis.suites;

import org.apache.ratis.InstallSnapshotNotificationTests;
import org.apache.ratis.LogAppenderTests;
import org.apache.ratis.MessageStreamApiTests;
import org.apache.ratis.OutputStreamBaseTest;
import org.apache.ratis.RaftAsyncExceptionTests;
import org.apache.ratis.RaftAsyncTests;
import org.apache.ratis.RaftBasicTests;
import org.apache.ratis.RaftExceptionBaseTest;
import org.apache.ratis.ReadOnlyRequestTests;
import org.apache.ratis.ReadOnlyRequestWithLongTimeoutTests;
import org.apache.ratis.RequestLimitAsyncBaseTest;
import org.apache.ratis.RetryCacheTests;
import org.apache.ratis.TestReConfigProperty;
import org.apache.ratis.WatchRequestTests;
import org.apache.ratis.datastream.DataStreamAsyncClusterTests;
import org.apache.ratis.datastream.DataStreamStarSuite;
import org.apache.ratis.server.impl.GroupInfoBaseTest;
import org.apache.ratis.server.impl.GroupManagementBaseTest;
import org.apache.ratis.server.impl.LeaderElectionTests;
import org.apache.ratis.server.impl.LogMetadataTests;
import org.apache.ratis.server.impl.MiniRaftCluster;
import org.apache.ratis.server.impl.PreAppendLeaderStepDownTest;
import org.apache.ratis.server.impl.RaftReconfigurationBaseTest;
import org.apache.ratis.server.impl.RaftStateMachineExceptionTests;
import org.apache.ratis.server.impl.ServerPauseResumeTest;
import org.apache.ratis.server.impl.StateMachineShutdownTests;
import org.apache.ratis.statemachine.RaftSnapshotBaseTest;
import org.apache.ratis.statemachine.SnapshotManagementTest;

/** The engine's suites over this transport; each named as in the engine. */
final class SuitesOverRdma {
    private SuitesOverRdma() {
    }

    public static class RaftBasic extends RaftBasicTests<MiniRaftClusterWithRdma> implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class RaftAsync extends RaftAsyncTests<MiniRaftClusterWithRdma> implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class RaftAsyncException extends RaftAsyncExceptionTests<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class RaftException extends RaftExceptionBaseTest<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class LeaderElection extends LeaderElectionTests<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class RaftReconfiguration extends RaftReconfigurationBaseTest<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class PreAppendLeaderStepDown extends PreAppendLeaderStepDownTest<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    /** The suite has no type parameter before Ratis 3.2.1. */
    @SuppressWarnings("rawtypes")
    public static class RaftSnapshot extends RaftSnapshotBaseTest {
        @Override
        public MiniRaftCluster.Factory<MiniRaftClusterWithRdma> getFactory() {
            return MiniRaftClusterWithRdma.FACTORY;
        }
    }

    public static class SnapshotManagement extends SnapshotManagementTest<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class InstallSnapshotFromLeader extends InstallSnapshotFromLeaderSuite<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class InstallSnapshotNotification extends InstallSnapshotNotificationTests<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class RetryCache extends RetryCacheTests<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class ReadOnlyRequest extends ReadOnlyRequestTests<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class ReadOnlyRequestWithLongTimeout extends ReadOnlyRequestWithLongTimeoutTests<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class WatchRequest extends WatchRequestTests<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class MessageStreamApi extends MessageStreamApiTests<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class OutputStream extends OutputStreamBaseTest<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class RequestLimitAsync extends RequestLimitAsyncBaseTest<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class LogAppender extends LogAppenderTests<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class LogMetadata extends LogMetadataTests<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class GroupInfo extends GroupInfoBaseTest<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class GroupManagement extends GroupManagementBaseTest {
        @Override
        public MiniRaftCluster.Factory<? extends MiniRaftCluster> getClusterFactory() {
            return MiniRaftClusterWithRdma.FACTORY;
        }
    }

    public static class ServerPauseResume extends ServerPauseResumeTest<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class RaftStateMachineException extends RaftStateMachineExceptionTests<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class StateMachineShutdown extends StateMachineShutdownTests<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class ReConfigProperty extends TestReConfigProperty<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class DataStreamChain extends DataStreamAsyncClusterTests<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }

    public static class DataStreamStar extends DataStreamStarSuite<MiniRaftClusterWithRdma>
        implements MiniRaftClusterWithRdma.FactoryGet {
    }
}
