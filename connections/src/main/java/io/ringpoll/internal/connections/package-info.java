/**
 * What message connections and the transport for Apache Ratis share: the event loop, the registered memory and the ids of work
 * requests of connections, over either binding.
 */
package io.ringpoll.internal.connections;
