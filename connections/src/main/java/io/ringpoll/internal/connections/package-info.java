/** What message connections and the transport for Apache Ratis share: event loop, memory, sends and credits of connections. */
package io.ringpoll.internal.connections;
