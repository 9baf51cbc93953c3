/** Tests of message connections. */
package io.ringpoll.connections;
