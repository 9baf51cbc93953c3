/** {@code ./ringpoll fuzz}, and the options of all commands as targets of the fuzzer. */
package io.ringpoll.cli.fuzz;
