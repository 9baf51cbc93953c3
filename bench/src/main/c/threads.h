/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h: threads with a name, by which what they lose is found in /proc, and a CPU. */
#ifndef BASELINE_THREADS_H
#define BASELINE_THREADS_H

#include <pthread.h>

/* Returns 0 or what pthread_create(3) failed with. cpu may be BASELINE_ANY_CPU. */
int start_thread(pthread_t *thread, const char *name, int cpu, void *(*body)(void *),
    void *argument);

#endif
