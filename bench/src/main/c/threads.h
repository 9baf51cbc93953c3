/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h: threads with a CPU and a name, by which their lost CPU time is found in /proc. */
#ifndef BASELINE_THREADS_H
#define BASELINE_THREADS_H

#include <pthread.h>

/* Returns 0 or the error of pthread_create(3). cpu may be BASELINE_ANY_CPU. */
int start_thread(pthread_t *thread, const char *name, int cpu, void *(*body)(void *),
    void *argument);

#endif
