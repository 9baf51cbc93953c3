package io.ringpoll.internal.posix;

/**
 * Numbers of the system calls that the C library has no function for, by syscall(2).
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/syscall.2.html">syscall(2)</a>
 */
final class SystemCall {
    static final long SET_MEMPOLICY = isArm() ? 237 : 238;
    static final long GET_MEMPOLICY = isArm() ? 236 : 239;

    private SystemCall() {
    }

    /** Of asm-generic/unistd.h; else of x86_64. */
    private static boolean isArm() {
        return "aarch64".equals(System.getProperty("os.arch"));
    }
}
