package io.ringpoll.ratis.suites;

import io.ringpoll.ratis.InjectionPoints;
import io.ringpoll.ratis.RdmaConfigKeys;
import io.ringpoll.ratis.RdmaRpcType;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.RaftTestUtil;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.retry.RetryPolicy;
import org.apache.ratis.server.impl.DelayLocalExecutionInjection;
import org.apache.ratis.server.impl.MiniRaftCluster;
import org.apache.ratis.util.NetUtils;

/** The engine's test cluster over this transport. */
public final class MiniRaftClusterWithRdma extends MiniRaftCluster.RpcBase {
    /** For suites that create clusters themselves. */
    public static final Factory<MiniRaftClusterWithRdma> FACTORY = new Factory<>() {
        @Override
        public MiniRaftClusterWithRdma newCluster(
            final String[] ids, final String[] listenerIds, final RaftProperties properties) {
            RaftConfigKeys.Rpc.setType(properties, new RdmaRpcType());
            for (final String setting : SETTINGS.isEmpty() ? new String[0] : SETTINGS.split(",")) {
                final int equals = setting.indexOf('=');
                properties.set(setting.substring(0, equals), setting.substring(equals + 1));
            }
            return new MiniRaftClusterWithRdma(ids, listenerIds, properties);
        }
    };

    /** Settings of the transport, KEY=VALUE,KEY=VALUE. */
    private static final String SETTINGS = System.getProperty("ringpoll.suites.properties", "");

    private static final String LOCAL = "localhost:0";

    private static final DelayLocalExecutionInjection SEND_SERVER_REQUEST =
        new DelayLocalExecutionInjection(InjectionPoints.SEND_SERVER_REQUEST);

    /** Implemented by a suite to run on this cluster. */
    public interface FactoryGet extends Factory.Get<MiniRaftClusterWithRdma> {
        @Override
        default Factory<MiniRaftClusterWithRdma> getFactory() {
            return FACTORY;
        }
    }

    private MiniRaftClusterWithRdma(final String[] ids, final String[] listenerIds, final RaftProperties properties) {
        super(ids, listenerIds, properties, null);
    }

    @Override
    protected Parameters setPropertiesAndInitParameters(
        final RaftPeerId id, final RaftGroup group, final RaftProperties properties) {
        final String address = getAddress(id, group, RaftPeer::getAddress);
        RdmaConfigKeys.setServerPort(properties, getPort(id, group));
        RdmaConfigKeys.setServerHost(properties,
            NetUtils.createSocketAddr(address == null ? LOCAL : address).getAddress().getHostAddress());
        properties.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
        return null;
    }

    /** With streams over this transport if the client has a primary. */
    @Override
    public RaftClient createClient(
        final RaftPeerId leader, final RaftGroup group, final RetryPolicy retries, final RaftPeer primary) {
        final RaftClient client = super.createClient(leader, group, retries, primary);
        return primary == null ? client : new StreamingClient(client, primary, getProperties());
    }

    @Override
    protected void blockQueueAndSetDelay(final String leaderId, final int delayMs) throws InterruptedException {
        RaftTestUtil.blockQueueAndSetDelay(getServers(), SEND_SERVER_REQUEST, leaderId, delayMs, getTimeoutMax());
    }
}
