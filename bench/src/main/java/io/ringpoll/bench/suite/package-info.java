/** {@code ./ringpoll bench}: all benchmarks and tools in one run, with one table, one JSON document and one report. */
package io.ringpoll.bench.suite;
