package io.ringpoll.internal.verbs;

/**
 * Posts receives of one connection, all into one registered memory, for a layer that keeps them within it. {@link MessagePosts}
 * finds it for a connection of the binding.
 *
 * <p>One thread at a time posts, as for the connection itself; fast if it is mostly the same.
 */
public interface MessageReceives {
    /**
     * Posts receives into consecutive pieces, in order. Neither their range is checked, nor a budget of the completion queue.
     *
     * @param offset        of the first piece in the memory, in bytes
     * @param lengthBytes   of each piece
     * @param workRequestId of the first receive; those of the next ones follow by 1
     * @param count         number of pieces, 1 or more
     * @return number of accepted receives, from the first; fewer if the receive queue is full
     * @throws IllegalStateException if the connection or the memory is closed
     * @throws RuntimeException      the binding's exception, except for a full queue; the receives before are posted
     */
    int post(long offset, int lengthBytes, long workRequestId, int count);
}
