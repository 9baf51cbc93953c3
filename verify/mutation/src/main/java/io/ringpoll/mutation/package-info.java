/** Measures how many mutants of the libraries their tests kill, and compares the survivors with the list of known ones. */
package io.ringpoll.mutation;
