package io.ringpoll.os;

/**
 * The C library's functions that this package stands on, by their C names.
 *
 * <p>Pointers are addresses. A result of -1 means that errno is in the calling thread's
 * {@link io.ringpoll.ffm.CallState#errno()}.
 */
interface PosixFunctions {
    int poll(long fds, long nfds, int timeoutMs);

    int fcntl(int fd, int command, long argument);

    int eventfd(int initial, int flags);

    long read(int fd, long buffer, long count);

    long write(int fd, long buffer, long count);

    int close(int fd);

    int sched_setaffinity(int pid, long cpusetSize, long mask);

    int sched_getaffinity(int pid, long cpusetSize, long mask);

    int sched_getcpu();

    int mlock(long address, long lengthBytes);

    int munlock(long address, long lengthBytes);

    int mlockall(int flags);

    int munlockall();

    long strerrorname_np(int errno);

    long strerror(int errno);
}
