/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.c: runs a program under a seccomp filter that denies the same calls as Docker's default profile for a container without
 * capabilities, and process_vm_readv and process_vm_writev, which that profile denies on kernels before 4.8.
 *
 *   confine EPERM|ENOSYS PROGRAM [ARGUMENT...]
 *
 * The first word is the result of denied system calls: Docker's is EPERM; other runtimes, and Docker for those that it does not
 * know, return ENOSYS. A check of the program, not a protection against it: calls of other architectures are not examined.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMESPACES (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

static const long denied[] = {
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_add_key, SYS_request_key, SYS_keyctl, SYS_bpf,
    SYS_perf_event_open, SYS_userfaultfd, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_move_mount, SYS_open_tree,
    SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_unshare, SYS_setns, SYS_sethostname, SYS_setdomainname, SYS_swapon,
    SYS_swapoff, SYS_reboot, SYS_kexec_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_acct, SYS_settimeofday,
    SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_quotactl, SYS_syslog, SYS_vhangup, SYS_nfsservctl,
    SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_lookup_dcookie, SYS_fanotify_init, SYS_mbind, SYS_set_mempolicy,
    SYS_get_mempolicy, SYS_move_pages, SYS_migrate_pages, SYS_personality,
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
#ifdef SYS_process_madvise
    SYS_process_madvise,
#endif
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
#endif
#ifdef SYS_iopl
    SYS_iopl, SYS_ioperm,
#endif
};

#define COUNT (sizeof(denied) / sizeof(denied[0]))

/* Offsets in the data of a call; the lower half of an argument, on little-endian machines. */
#define NUMBER offsetof(struct seccomp_data, nr)
#define FIRST_ARGUMENT offsetof(struct seccomp_data, args[0])

static int install(int error)
{
    struct sock_filter filter[2 * COUNT + 16];
    unsigned short length = 0;
    const unsigned int deny = SECCOMP_RET_ERRNO | (unsigned int)error;

    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NUMBER);
    for (size_t i = 0; i < COUNT; i++) {
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)denied[i], 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, deny);
    }
    /* The library then calls clone, which has flags to examine. */
    filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
    filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 2);
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIRST_ARGUMENT);
    filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 4, 3);
    filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 2);
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIRST_ARGUMENT);
    filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_VSOCK, 1, 0);
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, deny);

    const struct sock_fprog program = {.len = length, .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    const int error = argc > 2 && strcmp(argv[1], "EPERM") == 0 ? EPERM :
        argc > 2 && strcmp(argv[1], "ENOSYS") == 0 ? ENOSYS : 0;

    if (error == 0) {
        fprintf(stderr, "usage: confine EPERM|ENOSYS PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    if (install(error)) {
        perror("confine: this kernel has no seccomp filters");
        return 3;
    }
    /* The filter is in force. */
    if (syscall(SYS_keyctl, 0, 0, 0, 0, 0) != -1 || errno != error || unshare(CLONE_NEWUSER) != -1 || errno != error) {
        fprintf(stderr, "confine: the filter denies nothing\n");
        return 3;
    }
    (void)execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
