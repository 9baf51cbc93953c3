/** Options that several of the measuring tools share. */
package io.ringpoll.cli.options;
