/**
 * {@code ./ringpoll bench --only growth}: how the cost of a completion grows with the number of queues and pollers, the size of
 * the ring and the size of a batch, beside plain C.
 */
package io.ringpoll.bench.growth;
