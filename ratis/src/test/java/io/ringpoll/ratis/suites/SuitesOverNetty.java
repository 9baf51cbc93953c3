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
import org.apache.ratis.datastream.MiniRaftClusterWithRpcTypeNettyAndDataStreamTypeNetty;
import org.apache.ratis.netty.MiniRaftClusterWithNetty;
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

/** The engine's suites over its own Netty transport, for comparison; each named as in the engine. */
final class SuitesOverNetty {
    private SuitesOverNetty() {
    }

    public static class RaftBasic extends RaftBasicTests<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class RaftAsync extends RaftAsyncTests<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class RaftAsyncException extends RaftAsyncExceptionTests<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class RaftException extends RaftExceptionBaseTest<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class LeaderElection extends LeaderElectionTests<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class RaftReconfiguration extends RaftReconfigurationBaseTest<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class PreAppendLeaderStepDown extends PreAppendLeaderStepDownTest<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    /** The suite has no type parameter before Ratis 3.2.1. */
    @SuppressWarnings("rawtypes")
    public static class RaftSnapshot extends RaftSnapshotBaseTest {
        @Override
        public MiniRaftCluster.Factory<MiniRaftClusterWithNetty> getFactory() {
            return MiniRaftClusterWithNetty.FACTORY;
        }
    }

    public static class SnapshotManagement extends SnapshotManagementTest<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class InstallSnapshotFromLeader extends InstallSnapshotFromLeaderSuite<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class InstallSnapshotNotification extends InstallSnapshotNotificationTests<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class RetryCache extends RetryCacheTests<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class ReadOnlyRequest extends ReadOnlyRequestTests<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class ReadOnlyRequestWithLongTimeout extends ReadOnlyRequestWithLongTimeoutTests<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class WatchRequest extends WatchRequestTests<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class MessageStreamApi extends MessageStreamApiTests<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class OutputStream extends OutputStreamBaseTest<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class RequestLimitAsync extends RequestLimitAsyncBaseTest<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class LogAppender extends LogAppenderTests<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class LogMetadata extends LogMetadataTests<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class GroupInfo extends GroupInfoBaseTest<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class GroupManagement extends GroupManagementBaseTest {
        @Override
        public MiniRaftCluster.Factory<? extends MiniRaftCluster> getClusterFactory() {
            return MiniRaftClusterWithNetty.FACTORY;
        }
    }

    public static class ServerPauseResume extends ServerPauseResumeTest<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class RaftStateMachineException extends RaftStateMachineExceptionTests<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class StateMachineShutdown extends StateMachineShutdownTests<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class ReConfigProperty extends TestReConfigProperty<MiniRaftClusterWithNetty>
        implements MiniRaftClusterWithNetty.FactoryGet {
    }

    public static class DataStreamChain extends DataStreamAsyncClusterTests<MiniRaftClusterWithRpcTypeNettyAndDataStreamTypeNetty>
        implements MiniRaftClusterWithRpcTypeNettyAndDataStreamTypeNetty.FactoryGet {
    }

    public static class DataStreamStar extends DataStreamStarSuite<MiniRaftClusterWithRpcTypeNettyAndDataStreamTypeNetty>
        implements MiniRaftClusterWithRpcTypeNettyAndDataStreamTypeNetty.FactoryGet {
    }
}
