/** {@code ./ringpoll bench}: all measurements in one run. */
package io.ringpoll.cli.suite;
