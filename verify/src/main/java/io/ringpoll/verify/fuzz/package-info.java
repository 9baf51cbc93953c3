/**
 * Fuzzing of all that comes from outside: bytes and texts that are nearly right are fed to whoever reads them; each must be
 * taken, or refused in one line.
 */
package io.ringpoll.verify.fuzz;
