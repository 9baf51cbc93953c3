/** Counts the executed instructions of a unit of work, by part of the program, independently of the load of the machine. */
package io.ringpoll.bench.instructions;
