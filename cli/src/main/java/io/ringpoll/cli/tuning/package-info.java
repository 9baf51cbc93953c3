/** The commands {@code doctor} and {@code tune}: machine inspection, pinning of threads, and jitter. */
package io.ringpoll.cli.tuning;
