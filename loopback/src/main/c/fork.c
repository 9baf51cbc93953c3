/* SPDX-License-Identifier: Apache-2.0 */
/* fork.c: the list of the objects that the child of a fork has to put in order. */
#include "fork.h"
#include "lock.h"

static struct lb_lock members_lock;
static struct lb_fork_member *members;

void lb_fork_join(struct lb_fork_member *member, void (*inherit)(struct lb_fork_member *member))
{
    member->inherit = inherit;
    lb_lock_acquire(&members_lock);
    member->next = members;
    member->link = &members;
    if (members != NULL)
        members->link = &member->next;
    members = member;
    lb_lock_release(&members_lock);
}

static void leave(struct lb_fork_member *member)
{
    *member->link = member->next;
    if (member->next != NULL)
        member->next->link = member->link;
}

void lb_fork_leave(struct lb_fork_member *member)
{
    lb_lock_acquire(&members_lock);
    leave(member);
    lb_lock_release(&members_lock);
}

void lb_fork_leave_and(struct lb_fork_member *member, void (*release)(struct lb_fork_member *member))
{
    lb_lock_acquire(&members_lock);
    leave(member);
    release(member);
    lb_lock_release(&members_lock);
}

static void hold(void)
{
    lb_lock_acquire(&members_lock);
}

static void release(void)
{
    lb_lock_release(&members_lock);
}

static void inherit(void)
{
    for (struct lb_fork_member *member = members; member != NULL; member = member->next)
        member->inherit(member);
    release();
}

__attribute__((constructor))
static void follow_forks(void)
{
    lb_at_fork(hold, release, inherit);
}
