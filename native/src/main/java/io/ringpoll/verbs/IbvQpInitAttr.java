package io.ringpoll.verbs;

/**
 * Layout of {@code struct ibv_qp_init_attr} and {@code struct ibv_srq_init_attr}; offsets in bytes, for 64-bit Linux.
 *
 * <pre>
 *   struct ibv_qp_init_attr {               struct ibv_srq_init_attr {
 *       void *qp_context;            0          void *srq_context;    0
 *       struct ibv_cq *send_cq;      8          struct ibv_srq_attr {
 *       struct ibv_cq *recv_cq;     16              uint32_t max_wr;  8
 *       struct ibv_srq *srq;        24              uint32_t max_sge; 12
 *       struct ibv_qp_cap {                         uint32_t srq_limit; 16
 *           uint32_t max_send_wr;   32          } attr;
 *           uint32_t max_recv_wr;   36      };
 *           uint32_t max_send_sge;  40
 *           uint32_t max_recv_sge;  44
 *           uint32_t max_inline_data; 48
 *       } cap;
 *       enum ibv_qp_type qp_type;   52
 *       int sq_sig_all;             56
 *   };
 * </pre>
 */
final class IbvQpInitAttr {
    static final int SIZE_BYTES = 64;
    static final int SEND_CQ_OFFSET = 8;
    static final int RECV_CQ_OFFSET = 16;
    static final int SRQ_OFFSET = 24;
    static final int MAX_SEND_WR_OFFSET = 32;
    static final int MAX_RECV_WR_OFFSET = 36;
    static final int MAX_SEND_SGE_OFFSET = 40;
    static final int MAX_RECV_SGE_OFFSET = 44;
    static final int MAX_INLINE_DATA_OFFSET = 48;
    static final int QP_TYPE_OFFSET = 52;
    static final int SQ_SIG_ALL_OFFSET = 56;
    /** The value of {@code IBV_QPT_RC}. */
    static final int QPT_RC = 2;

    static final int SRQ_SIZE_BYTES = 24;
    static final int SRQ_MAX_WR_OFFSET = 8;
    static final int SRQ_MAX_SGE_OFFSET = 12;

    private IbvQpInitAttr() {
    }
}
