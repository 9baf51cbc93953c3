package io.ringpoll.internal.posix;

/**
 * Functions of the C library that the binding uses, by their C names.
 *
 * <p>Pointers are addresses. A result of -1 means that errno is in the calling thread's
 * {@link io.ringpoll.internal.ffm.CallState#errno()}.
 */
public interface PosixFunctions {
    /**
     * The C function {@code poll}. Without errno, since waiting must allocate nothing; {@link #poll_errno} finds out.
     *
     * @param fds       address of the array of {@code struct pollfd}
     * @param nfds      elements of the array
     * @param timeoutMs -1 to wait without a limit
     * @return as in C
     */
    int poll(long fds, long nfds, int timeoutMs);

    /**
     * poll(2) once more, for its errno: the cause of the first failure, except a signal, also fails this call.
     *
     * @param fds       address of the array of {@code struct pollfd}
     * @param nfds      elements of the array
     * @param timeoutMs -1 to wait without a limit
     * @return as in C
     */
    int poll_errno(long fds, long nfds, int timeoutMs);

    /**
     * The C function {@code open}, of an existing file.
     *
     * @param path  address of the path, NUL-terminated
     * @param flags bits of the call
     * @return as in C
     */
    int open(long path, int flags);

    /**
     * The C function {@code fcntl}.
     *
     * @param fd       a descriptor
     * @param command  for instance F_GETFL
     * @param argument of the command
     * @return as in C
     */
    int fcntl(int fd, int command, long argument);

    /**
     * The C function {@code eventfd}.
     *
     * @param initial value of the counter
     * @param flags   bits of the call
     * @return as in C
     */
    int eventfd(int initial, int flags);

    /**
     * The C function {@code read}. Without errno.
     *
     * @param fd     a descriptor
     * @param buffer address
     * @param count  bytes
     * @return as in C
     */
    long read(int fd, long buffer, long count);

    /**
     * The C function {@code write}. Without errno.
     *
     * @param fd     a descriptor
     * @param buffer address
     * @param count  bytes
     * @return as in C
     */
    long write(int fd, long buffer, long count);

    /**
     * The C function {@code close}.
     *
     * @param fd a descriptor
     * @return as in C
     */
    int close(int fd);

    /**
     * The C function {@code geteuid}. Never fails.
     *
     * @return as in C
     */
    int geteuid();

    /**
     * The C function {@code sched_setaffinity}.
     *
     * @param pid        a thread; 0 for the calling one
     * @param cpusetSize as in C
     * @param mask       address of the set
     * @return as in C
     */
    int sched_setaffinity(int pid, long cpusetSize, long mask);

    /**
     * The C function {@code sched_getaffinity}.
     *
     * @param pid        a thread; 0 for the calling one
     * @param cpusetSize as in C
     * @param mask       address of the set
     * @return as in C
     */
    int sched_getaffinity(int pid, long cpusetSize, long mask);

    /**
     * The C function {@code sched_getcpu}.
     *
     * @return as in C
     */
    int sched_getcpu();

    /**
     * The C function {@code mmap}.
     *
     * @param address     of the memory
     * @param lengthBytes of the memory
     * @param protection  bits
     * @param flags       bits of the call
     * @param fd          a descriptor
     * @param offset      in the file
     * @return as in C
     */
    long mmap(long address, long lengthBytes, int protection, int flags, int fd, long offset);

    /**
     * The C function {@code munmap}.
     *
     * @param address     of the first page
     * @param lengthBytes of the pages
     * @return as in C
     */
    int munmap(long address, long lengthBytes);

    /**
     * The C function {@code madvise}.
     *
     * @param address     of the first page
     * @param lengthBytes of the pages
     * @param advice      a value of the call
     * @return as in C
     */
    int madvise(long address, long lengthBytes, int advice);

    /**
     * The C function {@code mlock}.
     *
     * @param address     of the memory
     * @param lengthBytes of the memory
     * @return as in C
     */
    int mlock(long address, long lengthBytes);

    /**
     * The C function {@code munlock}.
     *
     * @param address     of the memory
     * @param lengthBytes of the memory
     * @return as in C
     */
    int munlock(long address, long lengthBytes);

    /**
     * The C function {@code mlockall}.
     *
     * @param flags bits of the call
     * @return as in C
     */
    int mlockall(int flags);

    /**
     * The C function {@code munlockall}.
     *
     * @return as in C
     */
    int munlockall();

    /**
     * The C function {@code set_mempolicy}. By syscall(2): the C library has no function.
     *
     * @param mode     of the policy, or the address for it
     * @param nodeMask as in C
     * @param maxNode  bits of the mask
     * @return as in C
     */
    long set_mempolicy(int mode, long nodeMask, long maxNode);

    /**
     * The C function {@code get_mempolicy}. By syscall(2).
     *
     * @param mode     of the policy, or the address for it
     * @param nodeMask as in C
     * @param maxNode  bits of the mask
     * @param address  of the memory
     * @param flags    bits of the call
     * @return as in C
     */
    long get_mempolicy(long mode, long nodeMask, long maxNode, long address, long flags);

    /**
     * The C function {@code strerrorname_np}.
     *
     * @param errno an error number
     * @return as in C
     */
    long strerrorname_np(int errno);

    /**
     * The C function {@code strerror}.
     *
     * @param errno an error number
     * @return as in C
     */
    long strerror(int errno);
}
