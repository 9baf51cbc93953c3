/* SPDX-License-Identifier: Apache-2.0 */
/* traps.c: SIGTRAP in a process whose threads are executed instruction by instruction (programs/steps.c). */
#include "baseline.h"

#include <errno.h>
#include <signal.h>
#include <ucontext.h>

#if defined(__x86_64__)
#define TRAP_FLAG 0x100

/*
 * Continues after a trap of the trap flag, at an instruction or at the end of a system call. Any other trap has the default
 * effect: it ends the process.
 */
static void clear_trap_flag(int number, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;

    if (info->si_code == TRAP_TRACE || info->si_code == TRAP_BRKPT) {
        interrupted->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
        return;
    }
    const int saved = errno;
    (void)signal(number, SIG_DFL);
    (void)raise(number);
    errno = saved;
}

int baseline_survive_steps(void)
{
    struct sigaction action = {.sa_sigaction = clear_trap_flag, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

    return sigaction(SIGTRAP, &action, NULL);
}
#else
int baseline_survive_steps(void)
{
    return 0;
}
#endif
