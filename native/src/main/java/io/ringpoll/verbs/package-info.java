/**
 * Reliable connections by librdmacm and libibverbs alone: ids and their events, protection domains, memory regions, queue pairs,
 * and lists of prepared work requests that one call posts.
 *
 * <p>Completion queues, their channels and records are in {@link io.ringpoll.completion}.
 */
package io.ringpoll.verbs;
