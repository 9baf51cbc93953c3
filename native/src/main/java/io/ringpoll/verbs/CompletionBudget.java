package io.ringpoll.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The account of the work requests in flight towards one completion queue, by which a post is refused that could make the queue
 * overrun.
 *
 * <p>A request counts from its post on, also one that gives a completion only if it fails, since all that is outstanding
 * completes one by one when a queue pair fails. It is retired when a completion has been polled: a receive's own, a signalled
 * request's own, which retires the unsignalled ones before it too, or a failed one of either side. Unsignalled requests that
 * have succeeded just before their queue pair failed stay counted: nothing ever says so, and the queue pair is of no more use.
 *
 * <p>It stands for the requests of one queue pair, or the receives of one shared receive queue. {@link #hasRoom},
 * {@link #onPosted} and {@link #onReceivePosted} belong to the thread that posts, {@link #onPolled} to the one that polls, the
 * rest to any. Each count has one writer, and the two threads write to cache lines of their own. Nothing allocates.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_create_cq.3.html">ibv_create_cq(3)</a>
 */
public final class CompletionBudget {
    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
    /** Longs on two cache lines, which are fetched as a pair. */
    private static final int APART = 16;

    private static final int POSTED = APART;
    private static final int RECEIVES_POSTED = APART + 1;
    private static final int SIGNALLED = APART + 2;
    private static final int REFUSED = APART + 3;
    /** What the posting thread knows to be retired; its own. */
    private static final int RETIRED = APART + 4;
    /** Successful completions of the send queue, as the posting thread has last looked them up; its own. */
    private static final int SENDS_SEEN = APART + 5;

    private static final int SENDS_POLLED = 2 * APART + APART / 2;
    private static final int RECEIVES_POLLED = SENDS_POLLED + 1;
    private static final int ERRORS_POLLED = SENDS_POLLED + 2;

    private static final int LENGTH = 4 * APART;

    private final int depth;
    private final long[] counts = new long[LENGTH];
    /** For each signalled request: how many requests of the send queue had been posted, it included. */
    private final AtomicLongArray sendsUntil;
    private final int mask;

    /**
     * Creates an account of nothing in flight.
     *
     * @param depth how many completions the queue holds, at least 1
     */
    public CompletionBudget(final int depth) {
        if (depth < 1) {
            throw new IllegalArgumentException("a budget of " + depth + " is less than 1");
        }
        this.depth = depth;
        final int length = Math.max(2, Integer.highestOneBit(depth) << 1);
        sendsUntil = new AtomicLongArray(length);
        mask = length - 1;
    }

    /**
     * Whether one more request may be posted; a refusal is counted.
     *
     * @return false if as many are in flight as the queue holds
     */
    public boolean hasRoom() {
        final long[] own = counts;
        return own[POSTED] - own[RETIRED] < depth || hasRoomByNow(own);
    }

    /**
     * Counts a request of the send queue that has been accepted.
     *
     * @param signalled whether it gives a completion when it succeeds
     */
    public void onPosted(final boolean signalled) {
        final long[] own = counts;
        final long posted = own[POSTED] + 1;
        if (signalled) {
            final long index = own[SIGNALLED];
            if (index - own[SENDS_SEEN] < mask || index - sendsSeenNow(own) < mask) {
                sendsUntil.setOpaque((int) index & mask, posted - own[RECEIVES_POSTED]);
            }
            // Else so many have not succeeded that they must have failed: each retires by its error, and the place of the last
            // that succeeded is still needed.
            COUNT.setRelease(own, SIGNALLED, index + 1);
        }
        COUNT.setRelease(own, POSTED, posted);
    }

    private static long sendsSeenNow(final long[] own) {
        final long seen = (long) COUNT.getAcquire(own, SENDS_POLLED);
        own[SENDS_SEEN] = seen;
        return seen;
    }

    /** Counts a receive that has been accepted. */
    public void onReceivePosted() {
        final long[] own = counts;
        COUNT.setRelease(own, RECEIVES_POSTED, own[RECEIVES_POSTED] + 1);
        COUNT.setRelease(own, POSTED, own[POSTED] + 1);
    }

    /**
     * Retires what completions stand for that have just been polled.
     *
     * @param wcAddress of the first record
     * @param count     how many
     */
    public void onPolled(final long wcAddress, final int count) {
        final long errorsAndReceives = CompletionPath.tally(wcAddress, count);
        final int receives = (int) errorsAndReceives;
        final int errors = (int) (errorsAndReceives >>> Integer.SIZE);
        onPolled(count - receives - errors, receives, errors);
    }

    /**
     * Retires what completions stand for that have just been polled, by whoever has looked at them already.
     *
     * @param sends    successful ones of the send queue
     * @param receives successful receives
     * @param errors   failed ones, of either queue
     */
    public void onPolled(final int sends, final int receives, final int errors) {
        add(SENDS_POLLED, sends);
        add(RECEIVES_POLLED, receives);
        add(ERRORS_POLLED, errors);
    }

    /**
     * Retires what one polled completion stands for.
     *
     * @param path that the completion takes
     */
    public void onPolled(final CompletionPath path) {
        add(switch (path) {
            case SEND_WRITE -> SENDS_POLLED;
            case RECEIVE -> RECEIVES_POLLED;
            case ERROR -> ERRORS_POLLED;
        }, 1);
    }

    /**
     * How many completions the queue holds.
     *
     * @return the same at each call
     */
    public int depth() {
        return depth;
    }

    /**
     * How many requests are in flight: posted, and their completion not polled. On a queue pair that has failed this need not
     * come down to 0, if there were unsignalled requests: the end of the last one is told by its own flush.
     *
     * @return a moment's value, from 0 to the depth
     */
    public int inFlight() {
        final long retired = retired();
        final long posted = (long) COUNT.getAcquire(counts, POSTED);
        return (int) Math.max(0, Math.min(depth, posted - retired));
    }

    /**
     * How many posts have been refused.
     *
     * @return posts so far
     */
    public long refused() {
        return (long) COUNT.getAcquire(counts, REFUSED);
    }

    private boolean hasRoomByNow(final long[] own) {
        final long posted = own[POSTED];
        // Completions that belong to nothing counted here must not let more through than there is room for.
        final long retired = Math.min(posted, retired());
        own[RETIRED] = retired;
        if (posted - retired < depth) {
            return true;
        }
        COUNT.setRelease(own, REFUSED, own[REFUSED] + 1);
        return false;
    }

    private long retired() {
        final long sends = Math.min((long) COUNT.getAcquire(counts, SENDS_POLLED), (long) COUNT.getAcquire(counts, SIGNALLED));
        final long receives =
            Math.min((long) COUNT.getAcquire(counts, RECEIVES_POLLED), (long) COUNT.getAcquire(counts, RECEIVES_POSTED));
        final long sendsRetired = sends == 0 ? 0 : sendsUntil.getOpaque((int) (sends - 1) & mask);
        return sendsRetired + receives + (long) COUNT.getAcquire(counts, ERRORS_POLLED);
    }

    private void add(final int index, final int number) {
        if (number != 0) {
            COUNT.setRelease(counts, index, counts[index] + number);
        }
    }
}
