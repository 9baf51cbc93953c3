package io.ringpoll.verbs;

/**
 * Layout of work requests and of the parts of queues that posts use; offsets in bytes, for 64-bit Linux.
 *
 * <pre>
 *   struct ibv_send_wr {                          struct ibv_recv_wr {
 *       uint64_t wr_id;                  0            uint64_t wr_id;             0
 *       struct ibv_send_wr *next;        8            struct ibv_recv_wr *next;   8
 *       struct ibv_sge *sg_list;        16            struct ibv_sge *sg_list;   16
 *       int num_sge;                    24            int num_sge;               24
 *       enum ibv_wr_opcode opcode;      28        };
 *       unsigned int send_flags;        32
 *       __be32 imm_data;                36        struct ibv_sge {
 *       union {                                       uint64_t addr;              0
 *           rdma: uint64_t remote_addr; 40            uint32_t length;            8
 *                 uint32_t rkey;        48            uint32_t lkey;             12
 *           atomic: remote_addr;        40        };
 *                 uint64_t compare_add; 48
 *                 uint64_t swap;        56        struct ibv_qp {
 *                 uint32_t rkey;        64            struct ibv_context *context; 0
 *       } wr;                                         ...
 *       ...                            128            uint32_t qp_num;           52
 *   };                                            };
 *
 *   struct ibv_context: ops.post_srq_recv at 168, ops.post_send at 208, ops.post_recv at 216
 * </pre>
 */
final class IbvWr {
    static final int WR_ID_OFFSET = 0;
    static final int NEXT_OFFSET = 8;
    static final int SG_LIST_OFFSET = 16;
    static final int NUM_SGE_OFFSET = 24;
    static final int RECV_SIZE_BYTES = 32;

    static final int OPCODE_OFFSET = 28;
    static final int SEND_FLAGS_OFFSET = 32;
    static final int IMM_DATA_OFFSET = 36;
    static final int REMOTE_ADDR_OFFSET = 40;
    static final int RDMA_RKEY_OFFSET = 48;
    static final int ATOMIC_COMPARE_ADD_OFFSET = 48;
    static final int ATOMIC_SWAP_OFFSET = 56;
    static final int ATOMIC_RKEY_OFFSET = 64;
    static final int SEND_SIZE_BYTES = 128;

    static final int SGE_ADDR_OFFSET = 0;
    static final int SGE_LENGTH_OFFSET = 8;
    static final int SGE_LKEY_OFFSET = 12;
    static final int SGE_SIZE_BYTES = 16;

    /** Offset of {@code context} in {@code struct ibv_qp}, {@code ibv_cq}, {@code ibv_srq} and {@code ibv_pd}. */
    static final int CONTEXT_OFFSET = 0;
    static final int QP_NUM_OFFSET = 52;
    static final int POST_SRQ_RECV_OFFSET = 168;
    static final int POST_SEND_OFFSET = 208;
    static final int POST_RECV_OFFSET = 216;

    private IbvWr() {
    }
}
