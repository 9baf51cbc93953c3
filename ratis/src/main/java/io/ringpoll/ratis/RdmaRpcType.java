package io.ringpoll.ratis;

import org.apache.ratis.conf.Parameters;
import org.apache.ratis.rpc.RpcType;

/**
 * The transport's name to Apache Ratis: {@code raft.rpc.type = io.ringpoll.ratis.RdmaRpcType}, or
 * {@code RaftConfigKeys.Rpc.setType(properties, new RdmaRpcType())}.
 */
public final class RdmaRpcType implements RpcType {
    /** Creates it; the engine does so by the class's name. */
    public RdmaRpcType() {
    }

    /**
     * What the engine finds it by.
     *
     * @return the name of this class
     */
    @Override
    public String name() {
        return RdmaRpcType.class.getName();
    }

    @Override
    public RdmaFactory newFactory(final Parameters parameters) {
        return new RdmaFactory(this);
    }

    @Override
    public boolean equals(final Object other) {
        return other instanceof RdmaRpcType;
    }

    @Override
    public int hashCode() {
        return RdmaRpcType.class.hashCode();
    }

    @Override
    public String toString() {
        return "RDMA";
    }
}
