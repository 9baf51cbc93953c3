/** {@code ./ringpoll throughput}: what a completion costs at full speed. */
package io.ringpoll.cli.throughput;
