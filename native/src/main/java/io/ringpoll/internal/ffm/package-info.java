/**
 * Shared parts of the bindings: libraries, method handles of C functions, call state.
 *
 * <p>Used by the other packages of this project; users of the binding do not need it.
 */
package io.ringpoll.internal.ffm;

