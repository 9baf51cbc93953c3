package io.ringpoll.internal.transport;

/**
 * The layout of a work request id: the kind in the highest byte, the number of the link, and an index of the link or node.
 */
final class WorkRequestId {
    static final int RECEIVE = 1;
    static final int SEND = 2;
    static final int READ = 3;
    static final int LINK_MASK = 0xFF_FFFF;

    private static final int KIND_SHIFT = 56;
    private static final int LINK_SHIFT = 32;

    private WorkRequestId() {
    }

    static long receive(final int slot) {
        return (long) RECEIVE << KIND_SHIFT | slot;
    }

    static long of(final int kind, final int link, final int index) {
        return (long) kind << KIND_SHIFT | (long) (link & LINK_MASK) << LINK_SHIFT | index & 0xFFFF_FFFFL;
    }

    static int kind(final long workRequestId) {
        return (int) (workRequestId >>> KIND_SHIFT);
    }

    static int link(final long workRequestId) {
        return (int) (workRequestId >>> LINK_SHIFT) & LINK_MASK;
    }

    static int index(final long workRequestId) {
        return (int) workRequestId;
    }
}
