/**
 * The measurement behind the shape of the ring: handlers that see every completion and skip what is not theirs, against routing
 * when the poller publishes.
 */
package io.ringpoll.bench.routing;
