package io.ringpoll.verbs;

/**
 * Layout of the structs of {@code rdma_cma.h} that are used here; offsets in bytes, for 64-bit Linux.
 *
 * <pre>
 *   struct rdma_event_channel {               struct rdma_cm_id {
 *       int fd;                     0             struct ibv_context *verbs;            0
 *   };                                            struct rdma_event_channel *channel;   8
 *                                                 void *context;                       16
 *   struct rdma_cm_event {                        struct ibv_qp *qp;                   24
 *       struct rdma_cm_id *id;      0             struct rdma_route route {
 *       struct rdma_cm_id                             struct rdma_addr addr {
 *           *listen_id;             8                     src_storage;                 32
 *       enum ... event;            16                     dst_storage;                160
 *       int status;                20                     ...
 *       struct rdma_conn_param conn; 24               };
 *   };                                                ...
 *                                                 };
 *   struct rdma_conn_param {                  };
 *       const void *private_data;   0
 *       uint8_t private_data_len;   8
 *       uint8_t responder_resources; 9
 *       uint8_t initiator_depth;   10
 *       uint8_t flow_control;      11
 *       uint8_t retry_count;       12
 *       uint8_t rnr_retry_count;   13
 *       uint8_t srq;               14
 *       uint32_t qp_num;           16
 *   };
 * </pre>
 */
final class RdmaCm {
    static final int CHANNEL_FD_OFFSET = 0;

    static final int ID_VERBS_OFFSET = 0;
    static final int ID_QP_OFFSET = 24;
    static final int ID_SOURCE_OFFSET = 32;
    static final int ID_DESTINATION_OFFSET = 160;

    static final int EVENT_ID_OFFSET = 0;
    static final int EVENT_TYPE_OFFSET = 16;
    static final int EVENT_STATUS_OFFSET = 20;
    static final int EVENT_CONNECTION_OFFSET = 24;

    static final int PRIVATE_DATA_OFFSET = 0;
    static final int PRIVATE_DATA_LENGTH_OFFSET = 8;
    static final int RESPONDER_RESOURCES_OFFSET = 9;
    static final int INITIATOR_DEPTH_OFFSET = 10;
    static final int FLOW_CONTROL_OFFSET = 11;
    static final int RETRY_COUNT_OFFSET = 12;
    static final int RNR_RETRY_COUNT_OFFSET = 13;
    static final int SRQ_OFFSET = 14;
    static final int CONNECTION_PARAMETERS_BYTES = 24;

    /** The value of {@code RDMA_PS_TCP}. */
    static final int PORT_SPACE_TCP = 0x106;
    /** The value of {@code RDMA_OPTION_ID}. */
    static final int OPTION_ID = 0;
    /** The value of {@code RDMA_OPTION_ID_TOS}. */
    static final int OPTION_TOS = 0;
    /** The value of {@code RDMA_OPTION_ID_ACK_TIMEOUT}. */
    static final int OPTION_ACK_TIMEOUT = 3;

    private RdmaCm() {
    }
}
