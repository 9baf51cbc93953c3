/** The command line: a root, and a package for each command. */
package io.ringpoll.cli;
