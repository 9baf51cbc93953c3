package io.ringpoll.internal.lifecycle;

/** Makes calls as the queues and connections do. */
final class HotCaller {
    /** The action within a call. */
    @FunctionalInterface
    interface Body<T> {
        T run(HotMark mark) throws InterruptedException;
    }

    private HotCaller() {
    }

    /** Makes one call. */
    @HotCall
    static <T> T call(final HotCalls calls, final Body<T> body) throws InterruptedException {
        final HotMark mark = calls.enter();
        try {
            return body.run(mark);
        } finally {
            mark.leave();
        }
    }

    /** Makes one call that does nothing. */
    @HotCall
    static void call(final HotCalls calls) {
        calls.enter().leave();
    }
}
