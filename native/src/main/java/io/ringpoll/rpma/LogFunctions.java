package io.ringpoll.rpma;

/**
 * The part of librpma that controls its log and names its codes, by the C names and with the C parameters of {@code
 * librpma.h}.
 *
 * <p>Pointers are addresses, {@code size_t} is a {@code long}. Results: 0, or a negative {@link RpmaError} code; strings by
 * address.
 */
interface LogFunctions {
    long rpma_err_2str(int result);

    int rpma_log_set_threshold(int threshold, int level);

    int rpma_log_get_threshold(int threshold, long level);

    int rpma_log_set_function(long logFunction);
}
