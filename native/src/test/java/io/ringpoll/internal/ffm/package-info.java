/** Tests of calls into C and of its memory. */
package io.ringpoll.internal.ffm;

