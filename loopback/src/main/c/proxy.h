/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.h: queue pairs that stand for a queue pair of another process.
 *
 * Two connected queue pairs A and B of different processes each have a proxy of the other in their own process:
 *
 *   process of A:  A <-> proxy of B  ====  shared segment (wire.h)  ====  proxy of A <-> B  :process of B
 *
 * A's requests are sent to B's process, where the proxy of A executes them on B as any local requester would: with the checks of
 * B's keys, bounds and rights, in order, with waits for receives. So memory is checked and accessed only by the process that
 * owns it. The end of each request is a response, which completes it in A's send queue.
 *
 * Who does the work: a thread that finds a completion queue of A empty (ibv_poll_cq) takes what has arrived; so does the watch
 * thread when the other end wakes it, by a byte through the connection's socket. An end that polls often is awake, and costs the
 * other one no system call; the watch thread marks it as asleep when it has not polled for a millisecond.
 */
#ifndef LOOPBACK_PROXY_H
#define LOOPBACK_PROXY_H

#include "export.h"
#include "wire.h"

struct ibv_qp;

/*
 * Creates the proxy of a queue pair of another process. `active`: this is the active end of the segment. A byte LB_PROXY_WAKE_UP
 * through the socket makes the other end look at the segment. `doorbell` is this end of the doorbell by which both ends notify
 * threads that wait for completions (doorbell.h); -1: there is none, and watch threads work for both. Owns the segment and the
 * descriptors from success on; NULL with errno on failure.
 */
LB_EXPORT struct ibv_qp *lb_proxy_create(struct lb_wire_segment *segment, bool active, int socket, int doorbell);

#define LB_PROXY_WAKE_UP 0x52

/* The other end has woken this one: works for it. On the watch thread, with no lock held. */
LB_EXPORT void lb_proxy_answer(struct ibv_qp *proxy);

/* Whether a queue pair of this process is connected to the proxy. */
LB_EXPORT bool lb_proxy_is_attached(struct ibv_qp *proxy);

/* Whether the other process has broken the rules of the segment: its connection must end. */
LB_EXPORT bool lb_proxy_is_broken(struct ibv_qp *proxy);

/*
 * The other process, or its queue pair, is gone: requests that have no response yet fail when their retries are exhausted. Frees
 * the proxy as soon as nothing refers to it. Called once, on the watch thread, with no lock held.
 */
LB_EXPORT void lb_proxy_destroy(struct ibv_qp *proxy);

/* Segments and doorbells for the connection manager: see wire.h and doorbell.h. */
LB_EXPORT int lb_proxy_segment_create(struct lb_wire_segment **segment);
LB_EXPORT int lb_proxy_segment_map(int fd, struct lb_wire_segment **segment);
LB_EXPORT void lb_proxy_segment_unmap(struct lb_wire_segment *segment);
LB_EXPORT int lb_proxy_doorbell_open(int ends[2]);
LB_EXPORT bool lb_proxy_doorbell_is_end(int fd);

#endif
