/** Replication by Apache Ratis over ringpoll and over the engine's own transports, side by side. */
package io.ringpoll.bench.replicate;
