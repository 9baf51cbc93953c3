/** Messages between two nodes over RDMA: frames, credits, buffers, rendezvous, and the life of a connection. */
package io.ringpoll.ratis.transport;
