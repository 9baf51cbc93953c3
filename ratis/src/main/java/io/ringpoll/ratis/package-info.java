/** An RDMA transport for Apache Ratis: set {@code raft.rpc.type} to {@link io.ringpoll.ratis.RdmaRpcType}'s name. */
package io.ringpoll.ratis;
