/**
 * The situations of librpma's seventeen official examples, in Java: a server and a client, each on its own thread, against the
 * public API. Each is meant to be read as an example of its feature.
 */
package io.ringpoll.scenarios;
