/** {@code ./ringpoll latency}: the time from a completion to its handler. */
package io.ringpoll.cli.latency;
