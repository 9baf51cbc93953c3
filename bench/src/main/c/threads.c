/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c: starts the threads. */
#include "threads.h"

#include <sched.h>

#include "baseline.h"

int start_thread(pthread_t *thread, const char *name, int cpu, void *(*body)(void *),
    void *argument)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);

    if (error != 0)
        return error;
    if (cpu != BASELINE_ANY_CPU) {
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET((size_t)cpu, &set);
        error = pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
    }
    if (error == 0)
        error = pthread_create(thread, &attributes, body, argument);
    if (error == 0)
        (void)pthread_setname_np(*thread, name);
    (void)pthread_attr_destroy(&attributes);
    return error;
}
