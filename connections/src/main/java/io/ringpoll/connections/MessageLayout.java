package io.ringpoll.connections;

import io.ringpoll.internal.connections.BufferSizes;

/**
 * The numbers that all connections of a set have in common, computed once: a connection has only its own state.
 *
 * @param receives        number of receives, each with a buffer
 * @param sends           number of buffers for messages that are sent
 * @param strideBytes     length of a buffer
 * @param firstSend       offset of the first buffer for messages that are sent, behind those of the receives
 * @param endOfSends      offset of the end of the last one
 * @param signalInterval  every how many sends one is signalled; a power of two
 * @param pendingReceives maximum number of handled messages without a new receive
 * @param receivesOfPost  fewest such messages whose receives are posted again at the end of a batch
 * @param creditSends     maximum number of credit messages without a known completion
 */
record MessageLayout(int receives, int sends, int strideBytes, int firstSend, int endOfSends, int signalInterval,
                     int pendingReceives, int receivesOfPost, int creditSends) {
    /** Of connections with these sizes. */
    static MessageLayout of(final ConnectionSizes sizes) {
        final BufferSizes buffers = sizes.buffers();
        final int strideBytes = buffers.strideBytes();
        final int firstSend = buffers.receives() * strideBytes;
        return new MessageLayout(buffers.receives(), buffers.sends(), strideBytes, firstSend,
            firstSend + buffers.sends() * strideBytes, sizes.signalInterval(), sizes.pendingReceives(), sizes.receivesOfPost(),
            sizes.creditSends());
    }
}
