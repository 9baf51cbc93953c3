/** Replication by Apache Ratis over ringpoll and over the transports of the engine, for comparison. */
package io.ringpoll.bench.replicate;
