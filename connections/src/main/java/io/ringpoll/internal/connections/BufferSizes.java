package io.ringpoll.internal.connections;

/**
 * The sizes of a connection's registered memory: buffers of one length for its receives, and for the messages that it sends.
 *
 * @param receives       number of receives
 * @param sends          number of buffers for messages that are sent
 * @param maxBufferBytes maximum length of a message
 */
public record BufferSizes(int receives, int sends, int maxBufferBytes) {
    /** Length of a cache line, to which buffers are aligned. */
    public static final int LINE_BYTES = 64;

    /**
     * Length of a buffer. An odd number of cache lines: the first lines of buffers whose distance is a power of two share a few
     * sets of the caches, and replace each other there.
     *
     * @return in bytes
     */
    public int strideBytes() {
        return Math.toIntExact(stride());
    }

    /** In the type that holds it for every maximum length. */
    private long stride() {
        return (Math.ceilDiv((long) maxBufferBytes, LINE_BYTES) | 1) * LINE_BYTES;
    }

    /**
     * Length of the memory.
     *
     * @return in bytes; may exceed an int, and then it cannot be allocated
     */
    public long memoryBytes() {
        return stride() * (receives + sends);
    }
}
