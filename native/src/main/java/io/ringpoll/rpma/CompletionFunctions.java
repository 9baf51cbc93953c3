package io.ringpoll.rpma;

/**
 * The part of librpma that reads completion queues and waits for their events, by the C names and with the C parameters of
 * {@code librpma.h}.
 *
 * <p>Pointers are addresses, {@code size_t} is a {@code long}. The leading {@code turn} of critical functions is not C's: it is
 * the caller's {@link io.ringpoll.internal.ffm.CallTurn}. Results: 0, or a negative {@link RpmaError} code.
 */
interface CompletionFunctions {
    int rpma_conn_get_compl_fd(long connection, long fdPointer);

    int rpma_conn_wait(long connection, int flags, long cq, long isReceiveCq);

    int rpma_cq_get_fd(long cq, long fdPointer);

    int rpma_cq_wait(long cq);

    int rpma_cq_get_wc(int turn, long cq, int numEntries, long wcs, long numEntriesGot);

    int rpma_cq_get_completion(int turn, long cq, long completion);
}
