/* SPDX-License-Identifier: Apache-2.0 */
/* cm_poll.c: rpoll. The library has no rsockets, so all descriptors are the kernel's. */
#include <poll.h>
#include <rdma/rsocket.h>

#include "export.h"

LB_EXPORT int rpoll(struct pollfd *descriptors, nfds_t count, int timeout_ms)
{
    return poll(descriptors, count, timeout_ms);
}
