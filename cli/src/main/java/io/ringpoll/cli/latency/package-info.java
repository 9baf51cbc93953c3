/** {@code ./ringpoll latency}: the time of a completion to its handler. */
package io.ringpoll.cli.latency;
