package io.ringpoll.completion;

/**
 * Layout of the parts of {@code struct ibv_cq}, {@code struct ibv_comp_channel} and {@code struct ibv_qp} that are read here;
 * offsets in bytes, for 64-bit Linux.
 *
 * <pre>
 *   struct ibv_cq {                        struct ibv_comp_channel {              struct ibv_qp {
 *       struct ibv_context *context;  0        struct ibv_context *context;  0        ...
 *       struct ibv_comp_channel                int fd;                       8        uint32_t qp_num;   52
 *           *channel;                 8        int refcnt;                            ...
 *       void *cq_context;            16    };                                     };
 *       uint32_t handle;             24
 *       int cqe;                     28
 *       ...
 *   };
 * </pre>
 */
final class IbvCq {
    static final int CONTEXT_OFFSET = 0;
    static final int CHANNEL_OFFSET = 8;
    static final int CQE_OFFSET = 28;
    /** Offset of {@code fd} in {@code struct ibv_comp_channel}. */
    static final int CHANNEL_FD_OFFSET = 8;
    /** Offset of {@code context} in {@code struct ibv_comp_channel}. */
    static final int CHANNEL_CONTEXT_OFFSET = 0;
    /** Offset of {@code qp_num} in {@code struct ibv_qp}. */
    static final int QP_NUM_OFFSET = 52;

    private IbvCq() {
    }
}
