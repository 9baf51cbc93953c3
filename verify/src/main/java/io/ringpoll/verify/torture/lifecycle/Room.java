package io.ringpoll.verify.torture.lifecycle;

/**
 * When a post to one side of an endpoint must be accepted: its queue has room, and so has the completion queue for both sides.
 *
 * <p>Soft-RoCE frees a place in a queue when the request is done, not when its completion is polled. There, one side's unpolled
 * completions can fill the completion queue that it shares with the other one, which is then refused although it is empty.
 *
 * @param depth  of each side
 * @param shared whether both sides complete in one queue
 */
record Room(int depth, boolean shared) {
    /** Entries of a completion queue for one side or for both. */
    static int entries(final int depth, final boolean shared) {
        return (shared ? 2 * depth : depth) + 1;
    }

    /**
     * Whether the device and the binding must accept a post.
     *
     * @param open        most requests of its side without a completion
     * @param openOfOther most requests of the other side
     */
    boolean isCertain(final int open, final int openOfOther) {
        return open < depth && (!shared || open + openOfOther < entries(depth, true));
    }
}
