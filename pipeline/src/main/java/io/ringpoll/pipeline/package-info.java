/** The completion ring, its three paths, and the threads of the handlers. */
package io.ringpoll.pipeline;
