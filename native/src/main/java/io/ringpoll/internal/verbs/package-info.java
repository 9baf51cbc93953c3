/** Access to queues and completion records by address, for the binding, the poller and the pipeline. */
package io.ringpoll.internal.verbs;

