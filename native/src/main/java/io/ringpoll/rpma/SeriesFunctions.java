package io.ringpoll.rpma;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.NativeLibrary;

/** The functions of {@code ringpoll_series.h}, by their C names; pointers are addresses, the first parameter is a turn. */
interface SeriesFunctions {
    /** The functions; null where libringpoll was not built for this architecture, or if librpma lacks a function. */
    static SeriesFunctions find() {
        final NativeLibrary rpma = Libraries.current().rpma();
        return Libraries.current().ringpoll().isPresent() && rpma.has("rpma_cq_get_wc") && rpma.has("rpma_recv") ?
            new FfmSeriesFunctions() : null;
    }

    long ringpoll_poll_series(int turn, long round, int first, int count, long wc, int numEntries);

    long ringpoll_recv_series(int turn, long conn, long dst, long offset, long lengthBytes, long opContext, int count);

    /** Address of {@code rpma_cq_get_wc}. */
    long rpma_cq_get_wc();

    /** The number of calls before the last one, or of the accepted ones, in a result. */
    static int number(final long result) {
        return (int) (result >>> Integer.SIZE);
    }

    /** The result of the last call. */
    static int last(final long result) {
        return (int) result;
    }
}
