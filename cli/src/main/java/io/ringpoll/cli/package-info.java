/** The only command line: one root, and a package for each command. */
package io.ringpoll.cli;
