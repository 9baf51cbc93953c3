/** Pins the threads of a pipeline by a plan for the machine. */
package io.ringpoll.tuning;
