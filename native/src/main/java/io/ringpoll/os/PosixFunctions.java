package io.ringpoll.os;

/**
 * Functions of the C library that this package uses, by their C names.
 *
 * <p>Pointers are addresses. A result of -1 means that errno is in the calling thread's
 * {@link io.ringpoll.internal.ffm.CallState#errno()}.
 */
interface PosixFunctions {
    /** Without errno, since waiting must allocate nothing; {@link #poll_errno} finds out. */
    int poll(long fds, long nfds, int timeoutMs);

    /** poll(2) once more, for its errno: the cause of the first failure, except a signal, also fails this call. */
    int poll_errno(long fds, long nfds, int timeoutMs);

    int fcntl(int fd, int command, long argument);

    int eventfd(int initial, int flags);

    /** Without errno. */
    long read(int fd, long buffer, long count);

    /** Without errno. */
    long write(int fd, long buffer, long count);

    int close(int fd);

    /** Never fails. */
    int geteuid();

    int sched_setaffinity(int pid, long cpusetSize, long mask);

    int sched_getaffinity(int pid, long cpusetSize, long mask);

    int sched_getcpu();

    long mmap(long address, long lengthBytes, int protection, int flags, int fd, long offset);

    int mlock(long address, long lengthBytes);

    int munlock(long address, long lengthBytes);

    int mlockall(int flags);

    int munlockall();

    /** By syscall(2): the C library has no function. */
    long set_mempolicy(int mode, long nodeMask, long maxNode);

    /** By syscall(2). */
    long get_mempolicy(long mode, long nodeMask, long maxNode, long address, long flags);

    long strerrorname_np(int errno);

    long strerror(int errno);
}
