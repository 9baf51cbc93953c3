package io.ringpoll.completion;

/**
 * Layout of the parts of {@code struct ibv_context} that are read here; offsets in bytes, for 64-bit Linux.
 *
 * <pre>
 *   struct ibv_context {
 *       struct ibv_device *device;             offset   0
 *       struct ibv_context_ops ops {                    8
 *           ... 11 pointers
 *           int (*poll_cq)(cq, n, wcs);                96
 *           int (*req_notify_cq)(cq, solicited);      104
 *           ... 19 pointers
 *       };
 *       int cmd_fd;                                   264
 *       int async_fd;                                 268
 *       int num_comp_vectors;                         272
 *       ...
 *   };
 * </pre>
 */
final class IbvContext {
    static final int DEVICE_OFFSET = 0;
    static final int POLL_CQ_OFFSET = 96;
    static final int REQ_NOTIFY_CQ_OFFSET = 104;
    static final int ASYNC_FD_OFFSET = 268;
    static final int NUM_COMP_VECTORS_OFFSET = 272;
    /** Offset of {@code transport_type} in {@code struct ibv_device}, an {@code enum ibv_transport_type}. */
    static final int DEVICE_TRANSPORT_OFFSET = 20;
    /** {@code IBV_TRANSPORT_IWARP}. */
    static final int IWARP = 1;
    /** Offset of {@code name} in {@code struct ibv_device}. */
    static final int DEVICE_NAME_OFFSET = 24;

    private IbvContext() {
    }
}
