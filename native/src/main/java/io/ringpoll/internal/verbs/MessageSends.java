package io.ringpoll.internal.verbs;

/**
 * Posts messages to the send queue of one connection, all from one registered memory, for a layer that keeps them within it.
 * {@link MessagePosts} finds it for a connection of the binding.
 *
 * <p>One thread at a time posts, as for the connection itself; fast if it is mostly the same.
 */
public interface MessageSends {
    /**
     * Posts a message with immediate data. Neither its range is checked, nor a budget of the completion queue.
     *
     * @param offset        of the message in the memory, in bytes
     * @param lengthBytes   of the message; 0 for an empty one
     * @param isSignalled   whether it generates a completion also on success
     * @param immediate     the 32 bits, in host byte order
     * @param workRequestId is returned with the completion
     * @return true if it was accepted; false if the send queue is full
     * @throws IllegalStateException if the connection or the memory is closed
     * @throws RuntimeException      the binding's exception, except for a full queue
     */
    boolean post(long offset, int lengthBytes, boolean isSignalled, int immediate, long workRequestId);
}
