/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_remote.c: connections with ids of other processes.
 *
 * Each process has a proxy of the other's id. An event that the connection manager raises at a proxy is sent to the other process,
 * whose proxy then does what the id here has done.
 *
 *   process of A                                                process of B
 *   id A  <->  proxy of B   -- REQUEST: segment, doorbell -->   proxy of A  <->  id B (created for the listener)
 *                           <- REPLY or REJECT --------------
 *                           -- READY ------------------------>
 *                           <- DISCONNECT, both ways -------->
 *                           <- LOST, both ways: the path has failed, by a fault plan
 *                           <- LEAVE, both ways: the last message of an id
 *
 * Messages have one size and pass in order through a Unix socket of the connection; its end is the end of the process. The socket
 * stays open until the queue pair here is not connected to its proxy any more. A byte through it wakes this process (proxy.h).
 *
 * The other process is not trusted: its user is checked, messages that do not fit the state of the connection are ignored, and any
 * other bytes end the connection.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cm.h"
#include "device.h"
#include "proxy.h"
#include "watch.h"

#define MAGIC 0x52504c42u
/* The limit for one socket under one hold of cm_lock: a process that sends on does not keep the lock. */
#define MESSAGES_AT_ONCE 64

enum message_type { REQUEST = 1, REPLY, READY, REJECT, DISCONNECT, LOST, LEAVE };

/* A message between the ends; the parameters are in the view of the receiver, as in its event. */
struct message {
    uint32_t magic;
    uint16_t version;
    uint16_t type;
    int32_t status;                  /* REJECT */
    uint8_t responder_resources;     /* REQUEST, REPLY: from here on */
    uint8_t initiator_depth;
    uint8_t flow_control;
    uint8_t retry_count;
    uint8_t rnr_retry_count;
    uint8_t srq;
    uint8_t data_length;             /* these, and REJECT */
    uint8_t reserved[5];
    struct sockaddr_storage source;  /* REQUEST */
    struct sockaddr_storage destination;
    uint8_t data[256];
};

struct remote {
    struct cm_id proxy;              /* first */
    struct remote *next;
    int socket;
    uint64_t watch;
    struct ibv_qp *qp;               /* NULL: the request has not arrived yet */
    bool left;                       /* LEAVE was sent */
    bool over;                       /* the other process is gone, or has broken the rules */
};

static struct remote *remotes; /* cm_lock */

static struct remote *remote_of(struct cm_id *id)
{
    return (struct remote *)(void *)id;
}

/* The descriptors of a request; -1 without one. */
struct passed {
    int segment;
    int doorbell;
};

static const struct passed nothing_passed = {-1, -1};

/* Sends a message, with the descriptors: the doorbell only with a segment. One that cannot be sent ends the connection. */
static void send_message(struct remote *remote, struct message *message, const struct passed *passed)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct passed))];
    } control;
    struct iovec data = {.iov_base = message, .iov_len = sizeof(*message)};
    struct msghdr sent = {.msg_iov = &data, .msg_iovlen = 1};
    ssize_t count;

    message->magic = MAGIC;
    message->version = LB_WIRE_VERSION;
    if (passed->segment >= 0) {
        const size_t length = passed->doorbell >= 0 ? sizeof(*passed) : sizeof(int);

        memset(&control, 0, sizeof(control));
        sent.msg_control = &control;
        sent.msg_controllen = CMSG_SPACE(length);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(length);
        memcpy(CMSG_DATA(&control.header), passed, length);
    }
    do
        count = sendmsg(remote->socket, &sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (count < 0 && errno == EINTR);
    if (count != (ssize_t)sizeof(*message)) {
        remote->over = true;
        lb_watch_call();
    }
}

/* Sets the parameters of a request, a reply or a rejection, as in the event. */
static void set_parameters(struct message *message, const struct rdma_conn_param *param)
{
    message->responder_resources = param->responder_resources;
    message->initiator_depth = param->initiator_depth;
    message->flow_control = param->flow_control;
    message->retry_count = param->retry_count;
    message->rnr_retry_count = param->rnr_retry_count;
    message->srq = param->srq;
    message->data_length = param->private_data_len;
    if (param->private_data_len > 0)
        memcpy(message->data, param->private_data, param->private_data_len);
}

/* The proxy's hook: an event for the id in the other process. */
static void send_event(struct cm_id *id, const struct cm_event *event)
{
    struct message message = {0};

    switch (event->base.event) {
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        message.type = REPLY;
        set_parameters(&message, &event->base.param.conn);
        break;
    case RDMA_CM_EVENT_REJECTED:
        message.type = REJECT;
        message.status = event->base.status;
        set_parameters(&message, &event->base.param.conn);
        break;
    case RDMA_CM_EVENT_ESTABLISHED:
        message.type = READY;
        break;
    case RDMA_CM_EVENT_DISCONNECTED:
        message.type = DISCONNECT;
        break;
    case RDMA_CM_EVENT_CONNECT_ERROR: /* of cm_break_off */
        message.type = LOST;
        break;
    default: /* the id has its own timers */
        return;
    }
    send_message(remote_of(id), &message, &nothing_passed);
}

static void ready(uint64_t watch);
static void remove_finished(void);

/*
 * A proxy without a queue pair on a connected socket of the same user, which it owns; NULL with the socket closed and errno, which
 * is EPERM for a socket of another user.
 */
static struct remote *new_remote(int socket)
{
    struct ucred other;
    socklen_t length = sizeof(other);
    struct remote *remote = calloc(1, sizeof(*remote));
    int error = ENOMEM;

    if (remote == NULL)
        goto close;
    error = EPERM;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &length) || other.uid != geteuid())
        goto free;
    remote->proxy.references = 1;
    remote->proxy.send_event = send_event;
    remote->socket = socket;
    lb_watch_on_call(remove_finished);
    error = cm_event_reserve(&remote->proxy, 1);
    if (!error)
        error = lb_watch_start();
    if (!error)
        error = lb_watch_add(socket, ready, &remote->watch);
    if (error)
        goto free;
    remote->next = remotes;
    remotes = remote;
    return remote;

free:
    lb_event_free_list(remote->proxy.reserved);
    free(remote);
close:
    (void)close(socket);
    errno = error;
    return NULL;
}

/* Creates the proxy's queue pair; owns the segment and the doorbell, which may be -1, also on failure. Returns false on failure. */
static bool make_queue_pair(struct remote *remote, struct lb_wire_segment *segment, bool active, int doorbell)
{
    const int socket = fcntl(remote->socket, F_DUPFD_CLOEXEC, 0);

    if (socket >= 0)
        remote->qp = lb_proxy_create(segment, active, socket, doorbell);
    if (remote->qp != NULL)
        return true;
    if (socket >= 0)
        (void)close(socket);
    if (doorbell >= 0)
        (void)close(doorbell);
    lb_proxy_segment_unmap(segment);
    return false;
}

static void close_passed(const struct passed *passed)
{
    if (passed->segment >= 0)
        (void)close(passed->segment);
    if (passed->doorbell >= 0)
        (void)close(passed->doorbell);
}

/* Creates the active end's queue pair, and the descriptors for the other end. Returns false on failure. */
static bool make_active_end(struct remote *remote, struct passed *passed)
{
    struct lb_wire_segment *segment;
    int ends[2];

    *passed = nothing_passed;
    passed->segment = lb_proxy_segment_create(&segment);
    if (passed->segment < 0)
        return false;
    /* Without a doorbell the watch threads do all work. */
    if (lb_proxy_doorbell_open(ends))
        ends[0] = -1;
    else
        passed->doorbell = ends[1];
    if (make_queue_pair(remote, segment, true, ends[0]))
        return true;
    close_passed(passed);
    return false;
}

/* Whether this process has no descriptors or memory left: that says nothing about the listener. */
static bool is_exhausted(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

int cm_remote_request(struct cm_id *active, const struct rdma_conn_param *param)
{
    const struct rdma_addr *address = &active->base.route.addr;
    struct message message = {.type = REQUEST};
    struct passed passed;
    struct cm_event described = {.counted_on = active};
    const int socket = cm_port_connect(cm_port_of(&address->dst_addr));

    if (socket < 0)
        return is_exhausted(errno) ? -errno : errno == EAGAIN ? CM_REJECT_CONSUMER : CM_REJECT_NO_SERVICE;
    struct remote *remote = new_remote(socket);
    if (remote == NULL)
        return errno == EPERM ? CM_REJECT_NO_SERVICE : -errno;
    if (!make_active_end(remote, &passed)) {
        const int error = errno;

        remote->over = true;
        lb_watch_call();
        return is_exhausted(error) ? -error : CM_REJECT_CONSUMER;
    }
    cm_describe(&described, active, param, CM_REQUEST_DATA);
    set_parameters(&message, &described.base.param.conn);
    message.source = address->src_storage;
    message.destination = address->dst_storage;
    remote->proxy.state = CM_REQUEST_RECEIVED;
    cm_pair(active, &remote->proxy);
    send_message(remote, &message, &passed);
    close_passed(&passed);
    return 0;
}

/* The sender's parameters in the form of rdma_connect and rdma_accept. */
static struct rdma_conn_param parameters(struct remote *remote, const struct message *message)
{
    remote->proxy.initiator_depth = message->responder_resources;
    remote->proxy.responder_resources = message->initiator_depth;
    return (struct rdma_conn_param){
        .private_data = message->data,
        .private_data_len = message->data_length,
        .flow_control = message->flow_control,
        .retry_count = message->retry_count,
        .rnr_retry_count = message->rnr_retry_count,
        .srq = message->srq,
        .qp_num = remote->qp->qp_num,
    };
}

/* Takes the doorbell, if there is one: the caller closes the other descriptors. */
static void on_request(struct remote *remote, const struct message *message, struct passed *passed)
{
    struct sockaddr *destination = (struct sockaddr *)(uintptr_t)&message->destination;
    struct sockaddr *source = (struct sockaddr *)(uintptr_t)&message->source;
    struct cm_id *id = &remote->proxy;
    struct lb_wire_segment *segment;
    int reason = CM_REJECT_NO_SERVICE;

    if (remote->qp != NULL || passed->segment < 0 || message->data_length > CM_REQUEST_DATA ||
            cm_address_length(source) == 0 || cm_address_length(destination) == 0 ||
            (passed->doorbell >= 0 && !lb_proxy_doorbell_is_end(passed->doorbell)) ||
            lb_proxy_segment_map(passed->segment, &segment)) {
        remote->over = true;
        return;
    }
    const int doorbell = passed->doorbell;
    passed->doorbell = -1;
    if (!make_queue_pair(remote, segment, false, doorbell)) {
        remote->over = true;
        return;
    }
    id->base.route.addr.src_storage = message->source;
    id->base.route.addr.dst_storage = message->destination;
    id->state = CM_REQUEST_SENT;
    const struct rdma_conn_param param = parameters(remote, message);
    struct cm_id *listener = cm_find_listener(destination);
    if (listener != NULL)
        reason = cm_send_request(id, listener, &param);
    if (reason != 0)
        cm_raise_rejected(id, reason, NULL, 0);
}

static void on_reply(struct remote *remote, const struct message *message)
{
    struct cm_id *id = &remote->proxy;

    if (id->state != CM_REQUEST_RECEIVED || id->peer == NULL || message->data_length > CM_REPLY_DATA)
        return;
    const struct rdma_conn_param param = parameters(remote, message);
    cm_send_reply(id, &param);
}

static void on_lost(struct cm_id *id)
{
    if (id == NULL || id->state != CM_ESTABLISHED)
        return;
    (void)cm_modify_qp(id, IBV_QPS_ERR);
    cm_break_off(id);
}

static void on_message(struct remote *remote, const struct message *message, struct passed *passed)
{
    struct cm_id *id = &remote->proxy;

    switch (message->type) {
    case REQUEST:
        on_request(remote, message, passed);
        break;
    case REPLY:
        on_reply(remote, message);
        break;
    case READY:
        if (id->state == CM_REPLY_RECEIVED && id->peer != NULL)
            cm_send_ready(id);
        break;
    case REJECT:
        if (id->state == CM_REQUEST_RECEIVED && message->data_length <= CM_REJECT_DATA && message->status > 0)
            cm_send_rejection(id, message->status, message->data, message->data_length);
        break;
    case DISCONNECT:
        cm_send_disconnect(id);
        break;
    case LOST:
        on_lost(id->peer);
        break;
    case LEAVE:
        cm_leave(id);
        break;
    default:
        remote->over = true;
        break;
    }
}

enum received { NOTHING, WAKE_UP, MESSAGE, END };

/* Takes the next message from the socket, with its descriptors. */
static enum received receive(const struct remote *remote, struct message *message, struct passed *passed)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct passed))];
    } control;
    struct iovec data = {.iov_base = message, .iov_len = sizeof(*message)};
    struct msghdr received = {
        .msg_iov = &data,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = CMSG_LEN(sizeof(struct passed)), /* without padding, in which a further descriptor would fit */
    };
    ssize_t count;

    *passed = nothing_passed;
    do
        count = recvmsg(remote->socket, &received, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? NOTHING : END;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&received);
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        memcpy(passed, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
    if (count == 1 && *(const char *)message == LB_PROXY_WAKE_UP)
        return WAKE_UP;
    if (count != (ssize_t)sizeof(*message) || message->magic != MAGIC || message->version != LB_WIRE_VERSION)
        return END;
    return MESSAGE;
}

/* cm_lock held, on the watch thread, where proxies end. Completions precede the event of the end, if their responses did. */
static void answer_before_the_end(struct remote *remote)
{
    cm_release();
    lb_proxy_answer(remote->qp);
    cm_hold();
}

/* On the watch thread. */
static void ready(uint64_t watch)
{
    struct remote *remote;
    struct ibv_qp *woken = NULL;
    bool changed = false;

    cm_hold();
    for (remote = remotes; remote != NULL && remote->watch != watch; remote = remote->next)
        ;
    for (int taken = 0; remote != NULL && !remote->over && taken < MESSAGES_AT_ONCE; taken++) {
        struct message message;
        struct passed passed;
        const enum received received = receive(remote, &message, &passed);

        if (remote->qp != NULL && (received == END || (received == MESSAGE && message.type >= REJECT)))
            answer_before_the_end(remote);
        if (received == MESSAGE)
            on_message(remote, &message, &passed);
        else if (received == WAKE_UP)
            woken = remote->qp;
        else if (received == END)
            remote->over = true;
        close_passed(&passed);
        if (received == NOTHING)
            break;
        changed = changed || received != WAKE_UP;
    }
    cm_release();
    /* Proxies are destroyed on this thread only. */
    if (woken != NULL)
        lb_proxy_answer(woken);
    if (changed) /* a look at thousands of connections would be too much for each wake-up */
        remove_finished();
}

static void send_leave(struct remote *remote)
{
    struct message message = {.type = LEAVE};

    remote->left = true;
    send_message(remote, &message, &nothing_passed);
}

/* Whether the connection has ended at both ends. */
static bool is_finished(struct remote *remote)
{
    struct cm_id *id = &remote->proxy;

    if (remote->qp != NULL && lb_proxy_is_broken(remote->qp))
        remote->over = true;
    if (remote->over) {
        cm_leave(id);
        return true;
    }
    if (remote->qp == NULL) /* the request has not arrived */
        return false;
    if (id->peer == NULL && !remote->left)
        send_leave(remote);
    return remote->left && !lb_proxy_is_attached(remote->qp);
}

/* cm_lock: not in the list any more, but its socket is open. */
static struct remote *removed;

/* On the watch thread: removes the proxies that are finished. */
static void remove_finished(void)
{
    for (;;) {
        struct remote **link = &remotes;

        cm_hold();
        while (*link != NULL && !is_finished(*link))
            link = &(*link)->next;
        struct remote *finished = *link;
        if (finished != NULL)
            *link = finished->next;
        removed = finished;
        cm_release();
        if (finished == NULL)
            return;
        lb_watch_remove(finished->socket);
        if (finished->qp != NULL)
            lb_proxy_destroy(finished->qp);
        (void)shutdown(finished->socket, SHUT_RDWR);
        cm_hold();
        (void)close(finished->socket);
        removed = NULL;
        cm_id_put(&finished->proxy);
        cm_release();
    }
}

/* cm_lock held, on the watch thread. */
static void connected(int socket)
{
    (void)new_remote(socket);
}

/* In the child of a fork, the port of an id that was bound before is the parent's. */
static int take_own_port(struct cm_id *bound)
{
    const int error = bound->has_machine_port ? 0 : cm_port_take(bound->port);

    bound->has_machine_port = !error;
    return error;
}

int cm_remote_listen(struct cm_id *listener)
{
    const int error = take_own_port(listener);

    return error ? error : cm_port_listen(listener->port, connected);
}

bool cm_remote_always(void)
{
    return getenv("RINGPOLL_LOOPBACK_ALWAYS_REMOTE") != NULL;
}

void cm_remote_forget(void)
{
    for (struct remote *remote = remotes; remote != NULL; remote = remote->next) {
        (void)close(remote->socket);
        remote->socket = -1;
    }
    remotes = NULL;
    if (removed != NULL)
        (void)close(removed->socket);
    removed = NULL;
}
