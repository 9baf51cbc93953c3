/** The duty cycle of the polling thread: claims slots, polls completion queues directly into them, publishes. */
package io.ringpoll.internal.poller;
