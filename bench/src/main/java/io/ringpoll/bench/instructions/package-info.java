/** Counts of instructions: what a unit of work costs whatever the load of the machine is, and in which part of the program. */
package io.ringpoll.bench.instructions;
