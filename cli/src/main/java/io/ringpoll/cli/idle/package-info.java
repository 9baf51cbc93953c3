/** {@code ./ringpoll idle}: the cost of idle strategies. */
package io.ringpoll.cli.idle;
