/**
 * What crosses threads between the poller and those who command or watch it.
 */
package io.ringpoll.poller;
