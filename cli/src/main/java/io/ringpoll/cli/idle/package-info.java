/** {@code ./ringpoll idle}: what idle strategies cost. */
package io.ringpoll.cli.idle;
