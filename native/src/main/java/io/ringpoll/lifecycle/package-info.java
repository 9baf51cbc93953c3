/**
 * The life of a C object that Java holds: who is inside it, what hangs on it, and how it ends without a crash.
 *
 * <p>Public for the sake of the packages beside it; users of the binding meet it only as {@code close()}.
 */
package io.ringpoll.lifecycle;
