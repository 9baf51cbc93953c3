/**
 * Fuzzing of the parsers of external input: they are fed with nearly valid bytes and texts, and must accept each, or reject it
 * with one line.
 */
package io.ringpoll.verify.fuzz;
