/**
 * {@code ./ringpoll stat}: a window into running processes through their counters files. Nothing here runs in the process that is
 * watched.
 */
package io.ringpoll.cli.stat;
