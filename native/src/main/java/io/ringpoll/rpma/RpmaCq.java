package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.Memory;

/**
 * Layout of librpma's own {@code struct rpma_cq}, the only way to the verbs queue below it. It has had two forms since completion
 * queues became objects: 0.10 to 0.14, and 1.0 to 1.3, which know shared channels.
 *
 * <pre>
 *   struct rpma_cq {                  to 0.14, 1.0    struct ibv_cq {                       struct ibv_comp_channel {
 *       struct ibv_comp_channel *channel;  0    0         struct ibv_context *context;  0       struct ibv_context *context;  0
 *       bool shared_comp_channel;          -    8         struct ibv_comp_channel               int fd;                       8
 *       struct ibv_cq *cq;                 8   16             *channel;                 8       ...
 *   };                                                };                                    };
 * </pre>
 *
 * <p>It is not a public interface, so its content is verified against the results of public calls.
 */
final class RpmaCq {
    private static final int CHANNEL_OFFSET = 0;
    private static final int CQ_OFFSET_BEFORE_SHARED_CHANNELS = 8;
    private static final int CQ_OFFSET = 16;
    private static final int IBV_CQ_CONTEXT_OFFSET = 0;
    private static final int IBV_CQ_CHANNEL_OFFSET = 8;
    private static final int CHANNEL_CONTEXT_OFFSET = 0;
    private static final int CHANNEL_FD_OFFSET = 8;
    private static final long LOWEST_ADDRESS = 0x10000;

    private RpmaCq() {
    }

    /**
     * Finds the verbs queue below a queue of librpma.
     *
     * @param rpmaCq         address of the {@code struct rpma_cq}
     * @param fd             the result of rpma_cq_get_fd(3)
     * @param sharedChannels whether the library knows shared channels; the shorter struct must not be read beyond its end
     * @return address of the {@code struct ibv_cq}; 0 if this librpma is laid out otherwise
     */
    static long ibvCq(final long rpmaCq, final int fd, final boolean sharedChannels) {
        final long channel = Memory.longAt(rpmaCq + CHANNEL_OFFSET);
        if (!isPointer(channel) || Memory.intAt(channel + CHANNEL_FD_OFFSET) != fd) {
            return 0;
        }
        final long cq = Memory.longAt(rpmaCq + (sharedChannels ? CQ_OFFSET : CQ_OFFSET_BEFORE_SHARED_CHANNELS));
        if (!isPointer(cq) || Memory.longAt(cq + IBV_CQ_CHANNEL_OFFSET) != channel) {
            return 0;
        }
        return Memory.longAt(cq + IBV_CQ_CONTEXT_OFFSET) == Memory.longAt(channel + CHANNEL_CONTEXT_OFFSET) ? cq : 0;
    }

    private static boolean isPointer(final long value) {
        return Long.compareUnsigned(value, LOWEST_ADDRESS) > 0 && (value & (Long.BYTES - 1)) == 0;
    }
}
