/** Tests of work completions, completion queues, channels and asynchronous events. */
package io.ringpoll.completion;
