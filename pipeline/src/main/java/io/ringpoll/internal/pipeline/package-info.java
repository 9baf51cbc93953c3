/** The duty cycles of a pipeline without a polling thread, for layers above that wait for them. */
package io.ringpoll.internal.pipeline;
