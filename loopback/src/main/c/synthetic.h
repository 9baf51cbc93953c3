/* SPDX-License-Identifier: Apache-2.0 */
/* synthetic.h: the part of a context that makes it a synthetic device. */
#ifndef LOOPBACK_SYNTHETIC_H
#define LOOPBACK_SYNTHETIC_H

struct lb_synthetic;

/* Frees it with all its programs, when nothing polls any more. */
void lb_synthetic_delete(struct lb_synthetic *synthetic);

#endif
