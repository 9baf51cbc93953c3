/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.h: objects that the child of a fork(2) has to put in order.
 *
 * A thread of the parent, which does not exist in the child, may have held an object's locks or own them. All objects that the
 * child has to put in order are in one list of the process. An object joins the list when it is complete, and leaves it before it
 * is freed. A fork waits for threads that do so; only the fork reads the list.
 *
 * In the child, `inherit` is called for each object, in no order, before fork(2) returns and before the handlers of other files
 * (lb_at_fork): nothing else runs. It takes no lock, and nothing joins or leaves.
 */
#ifndef LOOPBACK_FORK_H
#define LOOPBACK_FORK_H

#include <stddef.h>

struct lb_fork_member {
    struct lb_fork_member *next;
    struct lb_fork_member **link; /* the pointer to this member */
    void (*inherit)(struct lb_fork_member *member);
};

/* The object of a type that has this member. */
#define LB_FORKED(type, member_name, member) ((type *)(void *)((char *)(member) - offsetof(type, member_name)))

/* Any lock may be held. */
void lb_fork_join(struct lb_fork_member *member, void (*inherit)(struct lb_fork_member *member));
void lb_fork_leave(struct lb_fork_member *member);

/*
 * The same for an object with a resource that a child must not keep, such as a descriptor: `release` frees it before another
 * fork. It takes no lock.
 */
void lb_fork_leave_and(struct lb_fork_member *member, void (*release)(struct lb_fork_member *member));

#endif
