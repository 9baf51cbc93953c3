/** The cost of a poller while its queues are empty, and its wake-up latency. */
package io.ringpoll.bench.idle;
