/** {@code ./ringpoll replicate}: a log that is replicated by Apache Ratis. */
package io.ringpoll.cli.replicate;
