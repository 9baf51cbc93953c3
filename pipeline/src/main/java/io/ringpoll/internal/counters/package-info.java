/**
 * Observes a running pipeline from outside: a mapped file of Agrona counters and distinct errors, and its reader.
 */
package io.ringpoll.internal.counters;
