/** Tests of the C library's functions. */
package io.ringpoll.internal.posix;
