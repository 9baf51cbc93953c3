/**
 * A reliable connection, independent of the binding: the tools run over {@code io.ringpoll.rpma} or {@code io.ringpoll.verbs}, as
 * {@link io.ringpoll.internal.rc.RdmaApi} chooses.
 */
package io.ringpoll.internal.rc;
