/* SPDX-License-Identifier: Apache-2.0 */
/* cm_fork.c: what the connection manager leaves behind in the child of a fork. */
#include "cm.h"
#include "lock.h"

static void hold(void)
{
    pthread_mutex_lock(&cm_lock);
}

static void release(void)
{
    pthread_mutex_unlock(&cm_lock);
}

static void forget(void)
{
    cm_address_forget();
    cm_port_forget();
    cm_remote_forget();
    cm_event_forget();
    cm_timers_forget();
    release();
}

__attribute__((constructor))
static void follow_forks(void)
{
    lb_at_fork(hold, release, forget);
}
