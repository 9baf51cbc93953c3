/** {@code ./ringpoll torture}: random scenes, checked against a model. */
package io.ringpoll.cli.torture;
