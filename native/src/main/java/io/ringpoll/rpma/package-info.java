/**
 * librpma in Java: connections, memory regions, work requests and completions in the library's own terms.
 *
 * <p>The thread-safety of each type follows librpma's {@code THREAD_SAFETY.md} and is stated in its Javadoc. Errors are {@link
 * io.ringpoll.rpma.RpmaException}; ordinary results, such as an empty or a full queue, are values. Time-outs are milliseconds and
 * negative for none, as in librpma and poll(2); {@code docs/reference/configuration.md} states the rules for all.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man7/librpma.7.html">librpma(7)</a>
 */
package io.ringpoll.rpma;
