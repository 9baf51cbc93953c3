/** Stress tests of the state shared between the poller and the handlers. */
package io.ringpoll.pipeline;
