/**
 * Work completions, completion queues and completion events in the terms of the verbs manual.
 *
 * <p>Nothing here allocates, blocks or logs unless its Javadoc says so.
 */
package io.ringpoll.completion;
