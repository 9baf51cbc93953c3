/** The settings of the transport, for its own commands. */
package io.ringpoll.internal.ratis;
