/**
 * {@code ./ringpoll bench --only echo}: the cost of the layer of connections, beside the same echo by hand, in C, with Netty and
 * with Aeron.
 */
package io.ringpoll.bench.echo;
