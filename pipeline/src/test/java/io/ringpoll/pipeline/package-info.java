/** Tests of the ring, its paths and its threads. */
package io.ringpoll.pipeline;
