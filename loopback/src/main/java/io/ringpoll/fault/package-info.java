/** Fault plans: which operations of the loopback device fail, how and when; as text, by seed, and applied to the process. */
package io.ringpoll.fault;
