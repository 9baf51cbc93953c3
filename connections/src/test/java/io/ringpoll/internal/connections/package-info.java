/** Tests of the keeping of connections. */
package io.ringpoll.internal.connections;
