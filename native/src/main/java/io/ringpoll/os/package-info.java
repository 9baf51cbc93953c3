/** The few calls of the operating system that completions need: where a thread runs, locked memory, waiting on descriptors. */
package io.ringpoll.os;
