/** {@code ./ringpoll throughput}: the cost of a completion in saturation. */
package io.ringpoll.cli.throughput;
