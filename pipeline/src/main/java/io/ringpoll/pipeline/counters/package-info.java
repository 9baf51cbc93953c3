/**
 * The window by which a running pipeline is watched from outside: a mapped file of Agrona counters and distinct errors, and the
 * reader of such a file.
 */
package io.ringpoll.pipeline.counters;
