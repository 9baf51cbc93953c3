/** Stress tests of the state shared between the poller and the threads that control or observe it. */
package io.ringpoll.internal.poller;
