/**
 * Connections for messages: life cycle, registered buffers and credits. The entry is {@link
 * io.ringpoll.connections.ConnectionSet}.
 */
package io.ringpoll.connections;
