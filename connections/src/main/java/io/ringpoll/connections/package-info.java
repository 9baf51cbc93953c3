/**
 * Connections for messages: life cycle, registered buffers and credits. The entry is {@link
 * io.ringpoll.connections.ConnectionSet}. {@code docs/reference/configuration.md} states the rules of time-outs.
 */
package io.ringpoll.connections;
