/**
 * Life cycle of C objects that Java holds: calls in flight, dependents, and safe closing.
 *
 * <p>Used by the other packages of this project; users of the binding only call {@code close()}.
 */
package io.ringpoll.internal.lifecycle;

