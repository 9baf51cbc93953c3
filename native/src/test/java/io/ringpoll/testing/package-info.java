/** Shared test fixtures: the device address, connected pairs, and a slab for completions. */
package io.ringpoll.testing;
