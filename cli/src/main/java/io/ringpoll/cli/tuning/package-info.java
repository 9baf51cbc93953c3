/** The commands {@code doctor} and {@code tune}: machine inspection, thread placement, and jitter. */
package io.ringpoll.cli.tuning;
