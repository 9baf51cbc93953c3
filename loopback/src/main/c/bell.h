/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bell.h: the descriptors by which one process makes a completion channel of another one readable.
 *
 * A bell is a pair of connected datagram sockets, an end for each process; a byte calls the other one. The other process may do
 * anything to the pair, also to flags of this end: so no call waits, and an end that looks broken is not used any more. Datagram
 * sockets do not become readable when the other end is closed.
 */
#ifndef LOOPBACK_BELL_H
#define LOOPBACK_BELL_H

#include <stdbool.h>

/* Opens both ends; returns 0 or an errno value. */
int lb_bell_open(int ends[2]);

/* Whether a descriptor of another process can be the end of a bell. */
bool lb_bell_is_end(int fd);

/* Calls the other end. */
void lb_bell_call(int fd);

enum lb_bell_call {
    LB_BELL_NONE,   /* nobody has called */
    LB_BELL_CALLED, /* a call was taken */
    LB_BELL_BROKEN, /* this end is readable without a call, or gone */
};

/* Takes a call. */
enum lb_bell_call lb_bell_take(int fd);

#endif
