package io.ringpoll.rpma;

/**
 * The connection functions of librpma, with the names and parameters of {@code librpma.h}.
 *
 * <p>Pointers are addresses, {@code size_t} is a {@code long}. Results: 0, or a negative {@link RpmaError} code; errno of a
 * provider in {@link io.ringpoll.internal.ffm.CallState#errno()}.
 */
interface ConnectionFunctions {
    int rpma_conn_get_event_fd(long connection, long fdPointer);

    int rpma_conn_next_event(long connection, long event);

    long rpma_utils_conn_event_2str(int connEvent);

    int rpma_conn_get_private_data(long connection, long pdata);

    int rpma_conn_apply_remote_peer_cfg(long connection, long peerConfig);

    int rpma_conn_get_qp_num(long connection, long qpNum);

    int rpma_conn_get_cq(long connection, long cqPointer);

    int rpma_conn_get_rcq(long connection, long rcqPointer);

    int rpma_conn_disconnect(long connection);

    int rpma_conn_delete(long connPointer);

    int rpma_conn_req_new(long peer, long address, long port, long config, long reqPointer);

    int rpma_conn_req_delete(long reqPointer);

    int rpma_conn_req_connect(long reqPointer, long pdata, long connPointer);

    int rpma_ep_listen(long peer, long address, long port, long epPointer);

    int rpma_ep_shutdown(long epPointer);

    int rpma_ep_get_fd(long ep, long fdPointer);

    int rpma_ep_next_conn_req(long ep, long config, long reqPointer);

    int rpma_conn_req_get_private_data(long request, long pdata);
}
