package io.ringpoll.rpma;

/**
 * The part of librpma that makes, fills and reads configurations, by the C names and with the C parameters of {@code
 * librpma.h}.
 *
 * <p>Pointers are addresses, {@code size_t} is a {@code long}. Results: 0, or a negative {@link RpmaError} code.
 */
interface ConfigFunctions {
    int rpma_peer_cfg_new(long pcfgPointer);

    int rpma_peer_cfg_delete(long pcfgPointer);

    int rpma_peer_cfg_set_direct_write_to_pmem(long peerConfig, boolean supported);

    int rpma_peer_cfg_get_direct_write_to_pmem(long peerConfig, long supported);

    int rpma_peer_cfg_get_descriptor(long peerConfig, long descriptor);

    int rpma_peer_cfg_get_descriptor_size(long peerConfig, long descriptorSize);

    int rpma_peer_cfg_from_descriptor(long descriptor, long descriptorSize, long pcfgPointer);

    int rpma_conn_cfg_new(long cfgPointer);

    int rpma_conn_cfg_delete(long cfgPointer);

    int rpma_conn_cfg_set_timeout(long config, int timeoutMs);

    int rpma_conn_cfg_get_timeout(long config, long timeoutMs);

    int rpma_conn_cfg_set_cq_size(long config, int cqSize);

    int rpma_conn_cfg_get_compl_channel(long config, long shared);

    int rpma_conn_cfg_set_compl_channel(long config, boolean shared);

    int rpma_conn_cfg_get_cq_size(long config, long cqSize);

    int rpma_conn_cfg_set_rcq_size(long config, int rcqSize);

    int rpma_conn_cfg_get_rcq_size(long config, long rcqSize);

    int rpma_conn_cfg_set_sq_size(long config, int sqSize);

    int rpma_conn_cfg_get_sq_size(long config, long sqSize);

    int rpma_conn_cfg_set_rq_size(long config, int rqSize);

    int rpma_conn_cfg_get_rq_size(long config, long rqSize);

    int rpma_conn_cfg_set_srq(long config, long sharedQueue);

    int rpma_conn_cfg_get_srq(long config, long srqPointer);

    int rpma_srq_cfg_new(long cfgPointer);

    int rpma_srq_cfg_delete(long cfgPointer);

    int rpma_srq_cfg_set_rq_size(long config, int rqSize);

    int rpma_srq_cfg_get_rq_size(long config, long rqSize);

    int rpma_srq_cfg_set_rcq_size(long config, int rcqSize);

    int rpma_srq_cfg_get_rcq_size(long config, long rcqSize);
}
