/**
 * What crosses threads between the poller and the handlers.
 */
package io.ringpoll.pipeline;
