/**
 * What message connections and the transport for Apache Ratis share: event loop, memory, sends and credits of connections,
 * over either binding.
 */
package io.ringpoll.internal.connections;
