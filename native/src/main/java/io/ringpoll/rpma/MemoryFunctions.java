package io.ringpoll.rpma;

/**
 * The part of librpma that registers and describes memory, by the C names and with the C parameters of {@code librpma.h}.
 *
 * <p>Pointers are addresses, {@code size_t} is a {@code long}. Results: 0, or a negative {@link RpmaError} code; errno of a
 * provider in {@link io.ringpoll.internal.ffm.CallState#errno()}.
 */
interface MemoryFunctions {
    int rpma_mr_reg(long peer, long pointer, long size, int usage, long mrPointer);

    int rpma_mr_dereg(long mrPointer);

    int rpma_mr_get_descriptor(long region, long descriptor);

    int rpma_mr_remote_from_descriptor(long descriptor, long descriptorSize, long mrPointer);

    int rpma_mr_get_descriptor_size(long region, long descriptorSize);

    int rpma_mr_get_ptr(long region, long pointer);

    int rpma_mr_get_size(long region, long size);

    int rpma_mr_remote_get_size(long region, long size);

    int rpma_mr_remote_get_flush_type(long region, long flushType);

    int rpma_mr_remote_delete(long mrPointer);

    int rpma_mr_advise(long region, long offset, long lengthBytes, int advice, int flags);
}
