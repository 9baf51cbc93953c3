/**
 * {@code ./ringpoll stat}: observes running processes through their counters files. Nothing here runs in the observed process.
 */
package io.ringpoll.cli.stat;
