/**
 * The synthetic device: completion queues that give completions nobody posted for, at a set pace and with a set mix, so that the
 * path of completions can be measured without a device in the figure.
 *
 * <p>It is part of the loopback device.
 */
package io.ringpoll.synthetic;
