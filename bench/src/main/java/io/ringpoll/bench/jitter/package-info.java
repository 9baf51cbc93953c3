/**
 * The jitter meter: interruptions of a spinning thread on each CPU, in Java and in plain C.
 *
 * <p>Interruptions of both loops are due to the machine; those of the Java loop only are due to the JVM.
 */
package io.ringpoll.bench.jitter;
