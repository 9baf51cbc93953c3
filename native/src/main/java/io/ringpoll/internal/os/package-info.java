/** Waits, descriptors and memory for the modules of ringpoll. */
package io.ringpoll.internal.os;
