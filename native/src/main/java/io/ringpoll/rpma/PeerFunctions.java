package io.ringpoll.rpma;

/**
 * The part of librpma that finds devices, and makes peers and shared receive queues, by the C names and with the C parameters
 * of {@code librpma.h}.
 *
 * <p>Pointers are addresses, {@code size_t} is a {@code long}. Results: 0, or a negative {@link RpmaError} code; errno of a
 * provider in {@link io.ringpoll.internal.ffm.CallState#errno()}.
 */
interface PeerFunctions {
    int rpma_utils_get_ibv_context(long address, int type, long ibvCtxPointer);

    int rpma_utils_ibv_context_is_odp_capable(long ibvCtx, long isOdpCapable);

    int rpma_peer_new(long ibvCtx, long peerPointer);

    int rpma_peer_delete(long peerPointer);

    int rpma_srq_new(long peer, long config, long srqPointer);

    int rpma_srq_delete(long srqPointer);

    int rpma_srq_get_rcq(long sharedQueue, long rcqPointer);
}
