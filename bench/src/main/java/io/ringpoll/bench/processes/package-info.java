/** {@code ./ringpoll bench --only processes}: messages and writes between two processes, beside the usual ways. */
package io.ringpoll.bench.processes;
