package io.ringpoll.ratis;

import org.apache.ratis.conf.Parameters;
import org.apache.ratis.rpc.RpcType;

/**
 * The transport's RPC type in Apache Ratis: {@code raft.rpc.type = io.ringpoll.ratis.RdmaRpcType}, or {@code
 * RaftConfigKeys.Rpc.setType(properties, new RdmaRpcType())}.
 */
public final class RdmaRpcType implements RpcType {
    /** Called by the engine, by reflection. */
    public RdmaRpcType() {
    }

    /**
     * The name by which the engine finds this type.
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
