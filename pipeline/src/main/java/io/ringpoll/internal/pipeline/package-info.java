/** For layers above: the queues of a connection, and the duty cycles of a pipeline without a polling thread. */
package io.ringpoll.internal.pipeline;
