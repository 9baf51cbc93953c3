/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doorbell.h: the descriptors by which one process makes a completion channel of another one readable.
 *
 * A doorbell is a pair of connected datagram sockets, one end for each process; a byte notifies the other end. The other process
 * may do anything to the pair, also change flags of this end: so no operation waits for a byte or for room, and a broken end is not
 * used any more. Datagram sockets do not become readable when the other end is closed. A lock of the kernel is the exception: see
 * "Ports and access" in loopback-processes.md.
 */
#ifndef LOOPBACK_DOORBELL_H
#define LOOPBACK_DOORBELL_H

#include <stdbool.h>

/* Opens both ends; returns 0 or an errno value. */
int lb_doorbell_open(int ends[2]);

/* Whether a descriptor of another process can be the end of a doorbell. */
bool lb_doorbell_is_end(int fd);

/* Notifies the other end. */
void lb_doorbell_ring(int fd);

enum lb_doorbell_state {
    LB_DOORBELL_SILENT, /* there is no byte */
    LB_DOORBELL_RUNG,   /* a byte was taken */
    LB_DOORBELL_BROKEN, /* this end is readable without a byte, or gone */
};

/* Takes a byte. */
enum lb_doorbell_state lb_doorbell_take(int fd);

#endif
