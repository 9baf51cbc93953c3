/**
 * The jitter meter: how long a spinning thread on each CPU is taken away, in Java and, beside it, in plain C.
 *
 * <p>What both loops see is the machine's; what only the Java loop sees is the JVM's.
 */
package io.ringpoll.bench.jitter;
