package io.ringpoll.rpma;

/**
 * The part of librpma that posts work requests to send and receive queues, by the C names and with the C parameters of {@code
 * librpma.h}.
 *
 * <p>Pointers are addresses, {@code size_t} is a {@code long}. The leading {@code turn} of critical functions is not C's: it is
 * the caller's {@link io.ringpoll.internal.ffm.CallTurn}. Results: 0, or a negative {@link RpmaError} code. librpma does not
 * pass on why
 * a provider refused ({@code RPMA_E_PROVIDER}): {@link LogSink#errorErrno()} knows it from the message.
 */
interface PostingFunctions {
    int rpma_conn_req_recv(long request, long dst, long offset, long lengthBytes, long opContext);

    int rpma_srq_recv(int turn, long sharedQueue, long dst, long offset, long lengthBytes, long opContext);

    int rpma_read(int turn, long connection, long dst, long dstOffset, long src, long srcOffset, long lengthBytes, int flags,
        long opContext);

    int rpma_write(int turn, long connection, long dst, long dstOffset, long src, long srcOffset, long lengthBytes, int flags,
        long opContext);

    int rpma_write_with_imm(int turn, long connection, long dst, long dstOffset, long src, long srcOffset, long lengthBytes,
        int flags, int immediate, long opContext);

    int rpma_atomic_write(int turn, long connection, long dst, long dstOffset, long src, int flags, long opContext);

    int rpma_flush(int turn, long connection, long dst, long dstOffset, long lengthBytes, int type, int flags, long opContext);

    int rpma_send(int turn, long connection, long src, long offset, long lengthBytes, int flags, long opContext);

    int rpma_send_with_imm(int turn, long connection, long src, long offset, long lengthBytes, int flags, int immediate,
        long opContext);

    int rpma_recv(int turn, long connection, long dst, long offset, long lengthBytes, long opContext);
}
