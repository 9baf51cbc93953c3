/**
 * librpma in Java: connections, memory regions, work requests and completions in the library's own terms.
 *
 * <p>What one thread may use at a time follows librpma's {@code THREAD_SAFETY.md} and stands in the Javadoc of each type. Errors
 * are {@link io.ringpoll.rpma.RpmaException}; ordinary answers, as an empty queue or a full one, are values.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man7/librpma.7.html">librpma(7)</a>
 */
package io.ringpoll.rpma;
