package org.apache.ratis.datastream;

import java.util.Collection;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.RoutingTable;
import org.apache.ratis.server.impl.MiniRaftCluster;

/**
 * The engine's suite of streams with a primary that forwards to all others. In the engine's package: only there can the routes be
 * changed.
 *
 * @param <C> the cluster under test
 */
public abstract class DataStreamStarSuite<C extends MiniRaftCluster> extends DataStreamAsyncClusterTests<C> {
    @Override
    RoutingTable getRoutingTable(final Collection<RaftPeer> peers, final RaftPeer primary) {
        final RaftPeerId[] others = peers.stream().map(RaftPeer::getId).filter(id -> !id.equals(primary.getId()))
            .toArray(RaftPeerId[]::new);
        return RoutingTable.newBuilder().addSuccessors(primary.getId(), others).build();
    }
}
