/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm.h: the connection manager: ids, their states, and their effects on the peer.
 *
 * It follows the InfiniBand communication manager as rdma_cm shows it to users: a request, a reply, a ready-to-use; a
 * disconnect request and its reply. There is no network: a message is a change of the other id under cm_lock. Connects
 * and disconnects are rare, so one lock guards everything here; see lock.h for the lock order.
 */
#ifndef LOOPBACK_CM_H
#define LOOPBACK_CM_H

#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>

#include "eventq.h"
#include "timer.h"

/* Private data of reliable connections; shorter data arrives padded with zeros. */
enum {
    CM_REQUEST_DATA = 56,
    CM_REPLY_DATA = 196,
    CM_REJECT_DATA = 148,
};

/* Reasons of RDMA_CM_EVENT_REJECTED: InfiniBand specification, REJ message. */
enum {
    CM_REJECT_NO_SERVICE = 8,
    CM_REJECT_CONSUMER = 28,
};

#define CM_MAX_BACKLOG 1024
#define CM_DISCONNECT_TIMEOUT_NS UINT64_C(2000000000)
#define CM_TIMEWAIT_NS UINT64_C(100000000)

/* Events that an id can have from its connect or its request on: the outcome, DISCONNECTED and TIMEWAIT_EXIT. */
#define CM_CONNECTION_EVENTS 3

enum cm_state {
    CM_IDLE,
    CM_BOUND,
    CM_ADDRESS_RESOLVED,
    CM_ROUTE_RESOLVED,
    CM_LISTENING,
    CM_REQUEST_SENT,        /* active: rdma_connect called */
    CM_REPLY_RECEIVED,      /* active: accepted, the response not yet fetched */
    CM_REQUEST_RECEIVED,    /* passive: waits for accept or reject */
    CM_REPLY_SENT,          /* passive: accepted, waits for the active side to be ready */
    CM_ESTABLISHED,
    CM_DISCONNECT_SENT,
    CM_DISCONNECT_RECEIVED,
    CM_TIMEWAIT,
    CM_ENDED,               /* rejected, unreachable, or past timewait */
};

struct cm_id;
struct cm_event;

struct cm_channel {
    struct rdma_event_channel base; /* first */
    struct cm_channel *next;        /* of the process */
    struct cm_channel **link;
    struct lb_eventq events;
    struct cm_id *ids;              /* all that report here */
};

struct cm_id {
    struct rdma_cm_id base;         /* first */
    struct cm_id *next_on_channel;
    struct cm_id **link_on_channel;
    struct cm_id *next_on_port;
    enum cm_state state;
    bool sync;                      /* has a channel of its own and waits in every call */
    bool has_port;
    bool has_machine_port;          /* no other process can have it */
    bool has_device;                /* base.verbs is set and a share of the default PD is held */
    bool reuse_addr;
    bool connect_error;             /* later events of this connection are of no interest */
    bool timer_armed;               /* and holds a reference */
    bool timer_lost;                /* in the child of a fork, until it continues */
    int references;
    int backlog_left;               /* listening: requests that still fit */
    uint16_t port;                  /* host byte order */
    struct cm_id *peer;             /* the other side of the connection, both ways or not at all */
    _Atomic uint32_t events_fetched;
    uint32_t events_acknowledged;
    uint32_t remote_qp_num;
    uint8_t initiator_depth;
    uint8_t responder_resources;
    uint8_t retry_count;
    uint8_t rnr_retry_count;
    uint8_t traffic_class;
    bool has_ack_timeout;           /* else that of cm_qp.c */
    uint8_t ack_timeout;
    struct lb_timer timer;
    uint64_t deadline_ns;           /* of the timer; CLOCK_MONOTONIC */
    struct lb_event *reserved;      /* memory of events to come */
    struct ibv_qp *own_qp;          /* made by rdma_create_qp_ex: knows us as its owner */
    struct ibv_qp_init_attr *qp_init_attr; /* rdma_create_ep: for the requests' queue pairs */
    /* Not NULL: a proxy of an id in another process, without a channel or timers; its events are sent there. */
    void (*send_event)(struct cm_id *id, const struct cm_event *event);
};

struct cm_event {
    struct lb_event event;          /* first; its owner is the id it is counted on */
    struct rdma_cm_event base;
    struct cm_id *counted_on;
    struct cm_id *child;            /* connection request: the new id */
    uint8_t private_data[256];
};

extern pthread_mutex_t cm_lock;

/* cm_base.c. Take and release it. A thread is not cancelled while it holds it. */
void cm_hold(void);
void cm_release(void);
void cm_wait(pthread_cond_t *condition); /* releases it meanwhile */

static inline struct cm_id *cm_id_of(struct rdma_cm_id *id)
{
    return (struct cm_id *)(void *)id;
}

static inline struct cm_channel *cm_channel_of(struct rdma_event_channel *channel)
{
    return (struct cm_channel *)(void *)channel;
}

/* cm_base.c. Sets errno and returns -1, as all of rdma_cm fails. */
int cm_fail(int error);

/*
 * The functions below require cm_lock unless stated otherwise. The files are in the order of their layers: each calls
 * only the ones above it, which make check-layers verifies.
 */

/* cm_base.c */
struct cm_id *cm_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
    enum ibv_qp_type qp_type);
void cm_id_put(struct cm_id *id);
void cm_join_channel(struct cm_id *id, struct rdma_event_channel *channel);
void cm_leave_channel(struct cm_id *id);
int cm_attach_device(struct cm_id *id); /* returns 0 or an errno value */
void cm_detach_device(struct cm_id *id);

/* cm_event.c */
/*
 * Sees to it that the id has the memory of so many events. Each operation does so, for all events that can follow from it, before
 * it changes anything: no event is lost for want of memory. Returns 0 or ENOMEM.
 */
int cm_event_reserve(struct cm_id *id, int count);
struct cm_event *cm_event_new(struct cm_id *id, enum rdma_cm_event_type type, int status); /* of reserved memory */
void cm_event_set_data(struct cm_event *event, const void *data, size_t length, size_t padded);
void cm_event_raise(struct cm_event *event);
void cm_raise(struct cm_id *id, enum rdma_cm_event_type type, int status);
void cm_acknowledge(struct cm_event *event);
void cm_await_acknowledged(struct cm_id *id);
extern struct cm_channel *cm_channels; /* all of the process */
/* For the child of a fork: no thread is here that would acknowledge the fetched events. */
void cm_event_forget(void);

/* cm_qp.c */
int cm_modify_qp(struct cm_id *id, enum ibv_qp_state state); /* 0 or an errno value */
void cm_break_off(struct cm_id *id);         /* its connection is lost, by no wish of either side */

/* cm_state.c */
void cm_timer_start(struct cm_id *id, uint64_t delay_ns);
void cm_timer_stop(struct cm_id *id);

/* In the child of a fork: the timers of the ids are the parent's. */
void cm_timers_forget(void);

/* Starts the timers that the child of a fork has lost, with the rest of their times: it waits for events. No lock held. */
void cm_timers_continue(void);
void cm_part(struct cm_id *id);              /* neither is the other's peer any more */
void cm_raise_rejected(struct cm_id *id, int reason, const void *data, size_t length);
void cm_enter_timewait(struct cm_id *id);
void cm_disconnected(struct cm_id *id, int status);
void cm_leave(struct cm_id *id);             /* notifies the peer that this id is being destroyed */
void cm_send_ready(struct cm_id *id);
void cm_process_response(struct cm_event *event);

/* cm_fetch.c */
int cm_complete(struct cm_id *id);           /* lock not held: a synchronous id's wait for its event */

/* cm_address.c */
bool cm_any_address(const struct sockaddr *address);
void cm_release_port(struct cm_id *id);
struct cm_id *cm_find_listener(const struct sockaddr *address);
uint16_t cm_port_of(const struct sockaddr *address); /* host byte order; no lock needed */
size_t cm_address_length(const struct sockaddr *address); /* 0: not an internet address; no lock */
void cm_set_gids(struct cm_id *id);

/* cm_id.c */
void cm_id_discard(struct cm_id *id);   /* a connection request that nobody will see */

/* cm_exchange.c: see there. */
void cm_pair(struct cm_id *active, struct cm_id *passive);
/* The sender's parameters as the event of the other side shows them; `padded` is the length of the private data's field. */
void cm_describe(struct cm_event *event, const struct cm_id *sender, const struct rdma_conn_param *param, size_t padded);
/* Makes the passive id of a request and queues the request at a listener. Returns 0, or why it is rejected. */
int cm_send_request(struct cm_id *active, struct cm_id *listener, const struct rdma_conn_param *param);
void cm_send_reply(struct cm_id *id, const struct rdma_conn_param *param);
void cm_send_rejection(struct cm_id *id, int reason, const void *data, size_t length);
void cm_send_disconnect(struct cm_id *id); /* the request, or the reply to the peer's */

/* cm_port.c: ports of the machine; see there. */
void cm_port_open(void);             /* opens the descriptors that the process keeps */
int cm_port_take(uint16_t port);     /* 0 or an errno value; EADDRINUSE: another process has it */
void cm_port_release(uint16_t port);
int cm_port_listen(uint16_t port, void (*connected)(int socket)); /* 0 or an errno value */
int cm_port_connect(uint16_t port);  /* a connected socket, or -1 with errno */

/*
 * For the child of a fork: the ports and connections are the parent's, whose sockets must not stay open here, because they tell
 * others that it has ended; nothing is sent on them, and nobody finds its listeners here.
 */
void cm_address_forget(void);
void cm_port_forget(void);
void cm_remote_forget(void);

/* cm_remote.c */
bool cm_remote_always(void); /* also connections within this process take the way between processes: for tests */
int cm_remote_request(struct cm_id *active, const struct rdma_conn_param *param); /* 0, why it is rejected, or -errno */
int cm_remote_listen(struct cm_id *listener); /* 0 or an errno value */

#endif
