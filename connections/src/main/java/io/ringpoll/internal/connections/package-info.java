/** The keeping of connections that message connections and the transport for Apache Ratis share. */
package io.ringpoll.internal.connections;
