package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.CallState;

/** Calls for connections of librpma by their addresses. */
final class ConnectionCalls {
    private ConnectionCalls() {
    }

    /** The number of the local queue pair. */
    static int queuePairNumber(final long connection) {
        final CallState state = CallState.current();
        Librpma.CONNECTION.rpma_conn_get_qp_num(connection, state.scratch());
        return state.intAt(0);
    }

    /** The descriptor of the completion channel that both queues share. */
    static int completionFd(final long connection) {
        final CallState state = CallState.current();
        RpmaException.check("rpma_conn_get_compl_fd",
            Librpma.COMPLETION.rpma_conn_get_compl_fd(connection, state.scratch()));
        return state.intAt(0);
    }

    /** Frees the objects of librpma. */
    static int delete(final long connection) {
        return RpmaObject.delete(Librpma.CONNECTION::rpma_conn_delete, connection);
    }
}
