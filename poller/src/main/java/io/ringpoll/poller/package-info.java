/** The duty cycle of the polling thread: claim slots, poll completion queues straight into them, publish. */
package io.ringpoll.poller;
