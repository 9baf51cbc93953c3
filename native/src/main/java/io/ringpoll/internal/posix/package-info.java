/** Functions of the C library. */
package io.ringpoll.internal.posix;
