/**
 * Torture between processes: a process works with peers in other processes, which are killed, stopped or closed at random, and
 * accounts for each of its work requests.
 */
package io.ringpoll.verify.torture.processes;
