/**
 * The synthetic device: completion queues that produce completions without posted work requests, at a set pace and with a set
 * mix, to measure the completion path without the cost of a device.
 *
 * <p>It is part of the loopback device.
 */
package io.ringpoll.synthetic;
