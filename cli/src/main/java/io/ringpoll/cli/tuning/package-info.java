/** The commands {@code doctor} and {@code tune}: what the machine is, where threads belong on it, and how quiet it is. */
package io.ringpoll.cli.tuning;
