/** Fault plans: what the loopback device lets go wrong, and when; written down, drawn from a seed, and applied to the process. */
package io.ringpoll.fault;
