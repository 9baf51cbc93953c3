/** Messages between two nodes over RDMA: frames, credits, buffers, rendezvous, and the lifecycle of a connection. */
package io.ringpoll.internal.transport;
