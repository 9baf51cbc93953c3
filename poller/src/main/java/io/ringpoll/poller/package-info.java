/**
 * The poller as users see it: idling on completion events, queues with events, faults on the error path, and counters. A pipeline
 * creates and runs the poller.
 */
package io.ringpoll.poller;
