package io.ringpoll.verbs;

/**
 * Layout of the parts of {@code struct ibv_mr} that are read here; offsets in bytes, for 64-bit Linux.
 *
 * <pre>
 *   struct ibv_mr {
 *       struct ibv_context *context;  offset   0
 *       struct ibv_pd *pd;                     8
 *       void *addr;                           16
 *       size_t length;                        24
 *       uint32_t handle;                      32
 *       uint32_t lkey;                        36
 *       uint32_t rkey;                        40
 *   };
 * </pre>
 */
final class IbvMr {
    static final int LKEY_OFFSET = 36;
    static final int RKEY_OFFSET = 40;

    private IbvMr() {
    }
}
