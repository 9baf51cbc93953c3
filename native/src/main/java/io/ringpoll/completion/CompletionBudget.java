package io.ringpoll.completion;

import io.ringpoll.internal.verbs.CompletionPaths;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Limits outstanding work requests so that their completion queue cannot overrun.
 *
 * <p>A request counts from its post on, including an unsignalled one, since all outstanding requests complete one by one when a
 * queue pair fails. It is retired by a polled completion: its own, that of a later signalled request on the send queue, or a
 * failed one of either side. Unsignalled requests that succeeded just before their queue pair failed stay counted: no completion
 * reports them, and the queue pair is unusable.
 *
 * <p>While all counted requests are signalled and of one kind, sends or receives, each completion retires exactly one, and the
 * polled records are counted without being read. Otherwise each is classified: the completion of a send retires the unsignalled
 * requests before it, that of a receive does not. The classification starts with the first post that needs it, because a later
 * start could not know which of the earlier completions were sends.
 *
 * <p>It covers the requests of one queue pair, or the receives of one shared receive queue. Methods for sends are called by the
 * thread that posts to the send queue, those for receives by the thread that posts to the receive queue; if these are two
 * threads, both pass {@code shared}. The polling thread calls {@link #onPolled} within the call of the queue, which one thread
 * at a time makes; a poller calls {@link #onPolledByPoller} after it, and has counts of its own. Any thread may call the others.
 * Each count has one writer at a time, and each of these threads writes to cache lines of its own. Nothing allocates.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_create_cq.3.html">ibv_create_cq(3)</a>
 */
public final class CompletionBudget {
    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle KINDS = kindsHandle();

    /** Kind: signalled requests of the send queue. */
    private static final int SENDS = 1;
    /** Kind: receives. */
    private static final int RECEIVES = 1 << 1;
    /** Kind: unsignalled requests, or completions of requests that are not counted here. */
    private static final int OTHERS = 1 << 2;
    /** Kind: unsignalled requests alone. Added by the thread that posts sends. */
    private static final int UNSIGNALLED = 1 << 3;
    /** The kinds that polls distinguish. */
    private static final int POLLED_KINDS = SENDS | RECEIVES | OTHERS;

    /** Longs on two cache lines, which are fetched as a pair. */
    private static final int APART = 16;

    private static final int SENDS_POSTED = APART;
    private static final int SIGNALLED = SENDS_POSTED + 1;
    private static final int SENDS_REFUSED = SENDS_POSTED + 2;
    /** Retired requests, as known to the thread that posts sends. */
    private static final int SENDS_RETIRED = SENDS_POSTED + 3;
    /** Successful completions of the send queue, as that thread has last looked them up. */
    private static final int SENDS_SEEN = SENDS_POSTED + 4;

    private static final int RECEIVES_POSTED = 2 * APART;
    private static final int RECEIVES_REFUSED = RECEIVES_POSTED + 1;
    /** Retired requests, as known to the thread that posts receives. */
    private static final int RECEIVES_RETIRED = RECEIVES_POSTED + 2;

    private static final int SENDS_POLLED = 3 * APART;
    private static final int RECEIVES_POLLED = SENDS_POLLED + 1;
    private static final int ERRORS_POLLED = SENDS_POLLED + 2;

    /** 1 while one of two posting threads looks for room. */
    private static final int LOCK = 4 * APART;

    /** The distance from a count of polled completions to that of the poller; other threads may poll its queue, too. */
    private static final int OF_POLLER = 2 * APART;

    private static final int LENGTH = 6 * APART;
    /** An array of twice the next power of two can be made. */
    private static final int MAX_DEPTH = 1 << 29;
    private static final int SPINS = 100;

    private final int depth;
    private final long[] counts = new long[LENGTH];
    /**
     * For each signalled request: the number of posted requests of the send queue up to it. Before the first unsignalled request
     * that is its own number; then neither this nor {@link #SIGNALLED} is kept.
     */
    private final AtomicLongArray sendsUntil;
    private final int mask;
    /**
     * The kinds of requests so far: set before the first post of a kind, and read after a poll. So the poller knows the kinds of
     * all requests that it completes.
     */
    private volatile int kinds;

    /**
     * Creates an account of nothing in flight.
     *
     * @param depth capacity of the queue in completions, 1 to 2^29
     * @throws IllegalArgumentException otherwise
     */
    public CompletionBudget(final int depth) {
        if (depth < 1 || depth > MAX_DEPTH) {
            throw new IllegalArgumentException("a budget of " + depth + " is not from 1 to " + MAX_DEPTH);
        }
        this.depth = depth;
        final int length = Math.max(2, Integer.highestOneBit(depth) << 1);
        sendsUntil = new AtomicLongArray(length);
        mask = length - 1;
    }

    /**
     * Counts a request of the send queue that is about to be posted, if there is room; a refusal is counted otherwise.
     *
     * @param signalled whether it completes on success
     * @param shared    whether another thread may post receives
     * @return false if as many are in flight as the queue holds, and the request must not be posted
     */
    public boolean reserveSend(final boolean signalled, final boolean shared) {
        if (shared) {
            lock();
        }
        final boolean room = room(SENDS_RETIRED, 1) > 0;
        if (room) {
            countSend(signalled);
        }
        if (shared) {
            unlock();
        }
        return room || refuse(SENDS_REFUSED);
    }

    /**
     * Counts unsignalled requests of the send queue that are about to be posted, from the first as many as there is room for; a
     * refusal is counted if that is not all. As {@link #reserveSend} for each, at the cost of one.
     *
     * @param requests number of them, 1 or more
     * @param shared   whether another thread may post receives
     * @return number of requests that may be posted
     */
    public int reserveUnsignalled(final int requests, final boolean shared) {
        if (shared) {
            lock();
        }
        final int room = room(SENDS_RETIRED, requests);
        if (room > 0) {
            distinguishUnsignalled(counts);
            add(SENDS_POSTED, room);
        }
        if (shared) {
            unlock();
        }
        if (room < requests) {
            refuse(SENDS_REFUSED);
        }
        return room;
    }

    /**
     * Takes back the latest request of the send queue that was counted and not accepted; one call for each.
     *
     * @param signalled as for {@link #reserveSend}
     */
    public void cancelSend(final boolean signalled) {
        final long[] own = counts;
        COUNT.setRelease(own, SENDS_POSTED, own[SENDS_POSTED] - 1);
        if (signalled && (kinds & UNSIGNALLED) != 0) {
            COUNT.setRelease(own, SIGNALLED, own[SIGNALLED] - 1);
        }
    }

    /**
     * Counts a receive that is about to be posted, if there is room; a refusal is counted otherwise.
     *
     * @param shared whether another thread may post sends
     * @return false if as many requests are in flight as the queue holds, and the receive must not be posted
     */
    public boolean reserveReceive(final boolean shared) {
        if (shared) {
            lock();
        }
        final boolean room = room(RECEIVES_RETIRED, 1) > 0;
        if (room) {
            onReceivePosted();
        }
        if (shared) {
            unlock();
        }
        return room || refuse(RECEIVES_REFUSED);
    }

    /**
     * Counts receives that are about to be posted, from the first as many as there is room for; a refusal is counted if that is
     * not all. As {@link #reserveReceive} for each, at the cost of one.
     *
     * @param receives number of them, 1 or more
     * @param shared   whether another thread may post sends
     * @return number of receives that may be posted
     */
    public int reserveReceives(final int receives, final boolean shared) {
        if (shared) {
            lock();
        }
        final int room = room(RECEIVES_RETIRED, receives);
        if (room > 0) {
            addKinds(RECEIVES);
            add(RECEIVES_POSTED, room);
        }
        if (shared) {
            unlock();
        }
        if (room < receives) {
            refuse(RECEIVES_REFUSED);
        }
        return room;
    }

    /** Takes back the latest receive that was counted and not accepted; one call for each. */
    public void cancelReceive() {
        COUNT.setRelease(counts, RECEIVES_POSTED, counts[RECEIVES_POSTED] - 1);
    }

    /** Counts a receive without asking for room: one that was posted before the queue was known. */
    public void onReceivePosted() {
        addKinds(RECEIVES);
        COUNT.setRelease(counts, RECEIVES_POSTED, counts[RECEIVES_POSTED] + 1);
    }

    /**
     * Classifies all completions from now on, because requests that are not counted here complete in the same queue, for instance
     * the receives of a shared receive queue. To be called before the first poll.
     */
    public void classify() {
        addKinds(OTHERS);
    }

    private void addKinds(final int posted) {
        if ((kinds & posted) != posted) {
            KINDS.getAndBitwiseOr(this, posted);
        }
    }

    private void countSend(final boolean signalled) {
        final long[] own = counts;
        final long posted = own[SENDS_POSTED] + 1;
        if (!signalled || (kinds & (SENDS | UNSIGNALLED)) != SENDS) {
            countSendOfKind(signalled, own, posted);
        }
        COUNT.setRelease(own, SENDS_POSTED, posted);
    }

    /** Counts the first request, an unsignalled one, or one after an unsignalled one. */
    private void countSendOfKind(final boolean signalled, final long[] own, final long posted) {
        if (!signalled) {
            distinguishUnsignalled(own);
            return;
        }
        addKinds(SENDS);
        if ((kinds & UNSIGNALLED) != 0) {
            final long index = own[SIGNALLED];
            if (index - own[SENDS_SEEN] < mask || index - sendsSeenNow(own) < mask) {
                sendsUntil.setOpaque((int) index & mask, posted);
            }
            // Else so many have not succeeded that they must have failed: each retires by its error, and the place of the last
            // that succeeded is still needed.
            COUNT.setRelease(own, SIGNALLED, index + 1);
        }
    }

    /** Makes up for what is not kept before the first unsignalled request. */
    private void distinguishUnsignalled(final long[] own) {
        if ((kinds & UNSIGNALLED) == 0) {
            final long signalled = own[SENDS_POSTED];
            final long succeeded = Math.min(sendsSeenNow(own), signalled);
            // From the last that succeeded on; as in countSendOfKind, those behind the last place have failed.
            for (long index = Math.max(0, succeeded - 1); index < signalled && index - succeeded < mask; index++) {
                sendsUntil.setOpaque((int) index & mask, index + 1);
            }
            COUNT.setRelease(own, SIGNALLED, signalled);
            addKinds(SENDS | OTHERS | UNSIGNALLED);
        }
    }

    private static long sendsSeenNow(final long[] own) {
        final long seen = polled(own, SENDS_POLLED);
        own[SENDS_SEEN] = seen;
        return seen;
    }

    private static long polled(final long[] own, final int index) {
        return (long) COUNT.getAcquire(own, index) + (long) COUNT.getAcquire(own, index + OF_POLLER);
    }

    /**
     * Retires the requests of polled completions. Reads the records only if they must be classified. One thread at a time calls
     * this: within the queue's poll.
     *
     * @param records the polled records
     * @param first   index of the first record
     * @param count   their number
     */
    public void onPolled(final WorkCompletions records, final int first, final int count) {
        retire(0, records, first, count);
    }

    /**
     * As {@link #onPolled(WorkCompletions, int, int)}, for the one poller of a queue: other threads may poll the queue and call
     * that method at the same time.
     *
     * @param records the polled records
     * @param first   index of the first record
     * @param count   their number
     */
    public void onPolledByPoller(final WorkCompletions records, final int first, final int count) {
        retire(OF_POLLER, records, first, count);
    }

    private void retire(final int counter, final WorkCompletions records, final int first, final int count) {
        Objects.requireNonNull(records, "the polled records are null");
        switch (kinds & POLLED_KINDS) {
            case 0 -> {
                // None of them belongs to a counted request.
            }
            // Failed ones included: after a failure no request of the queue pair succeeds.
            case SENDS -> add(SENDS_POLLED + counter, count);
            case RECEIVES -> add(RECEIVES_POLLED + counter, count);
            default -> retireClassified(counter, records.address(first, count), count);
        }
    }

    private void retireClassified(final int counter, final long wcAddress, final int count) {
        final long errorsAndReceives = CompletionPaths.tally(wcAddress, count);
        final int receives = (int) errorsAndReceives;
        final int errors = (int) (errorsAndReceives >>> Integer.SIZE);
        add(SENDS_POLLED + counter, count - receives - errors);
        add(RECEIVES_POLLED + counter, receives);
        add(ERRORS_POLLED + counter, errors);
    }

    /**
     * Retires the requests of one polled completion, within the queue's own poll.
     *
     * @param path that the completion takes
     */
    public void onPolled(final CompletionPath path) {
        Objects.requireNonNull(path, "the path is null");
        // As for records: a failure is counted in the same way, however it is polled.
        switch (kinds & POLLED_KINDS) {
            case 0 -> {
                // It belongs to no counted request.
            }
            case SENDS -> add(SENDS_POLLED, 1);
            case RECEIVES -> add(RECEIVES_POLLED, 1);
            default -> add(switch (path) {
                case SEND_WRITE -> SENDS_POLLED;
                case RECEIVE -> RECEIVES_POLLED;
                case ERROR -> ERRORS_POLLED;
            }, 1);
        }
    }

    /**
     * The capacity of the queue.
     *
     * @return the same at each call
     */
    public int depth() {
        return depth;
    }

    /**
     * Number of requests in flight: posted, and not retired by a polled completion. On a failed queue pair with unsignalled
     * requests it may stay above 0.
     *
     * @return the present value, from 0 to the depth
     */
    public int inFlight() {
        final long retired = retired();
        final long posted = posted();
        return (int) Math.max(0, Math.min(depth, posted - retired));
    }

    /**
     * The number of refused posts.
     *
     * @return posts so far
     */
    public long refused() {
        return (long) COUNT.getAcquire(counts, SENDS_REFUSED) + (long) COUNT.getAcquire(counts, RECEIVES_REFUSED);
    }

    /** How many of some requests fit; rereads the retired count only if the cached one is too low for all. */
    private int room(final int knownRetired, final int requests) {
        final long[] own = counts;
        final long posted = posted();
        if (posted - own[knownRetired] <= depth - requests) {
            return requests;
        }
        // Completions that belong to nothing counted here must not let more through than there is room for.
        final long retired = Math.min(posted, retired());
        own[knownRetired] = retired;
        return (int) Math.max(0, Math.min(requests, depth - (posted - retired)));
    }

    private boolean refuse(final int refused) {
        COUNT.setRelease(counts, refused, counts[refused] + 1);
        return false;
    }

    private long posted() {
        return (long) COUNT.getAcquire(counts, SENDS_POSTED) + (long) COUNT.getAcquire(counts, RECEIVES_POSTED);
    }

    private void lock() {
        int spins = 0;
        while (!COUNT.weakCompareAndSetAcquire(counts, LOCK, 0L, 1L)) {
            if (spins++ < SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
    }

    private void unlock() {
        COUNT.setRelease(counts, LOCK, 0L);
    }

    private long retired() {
        final boolean allSignalled = (kinds & UNSIGNALLED) == 0;
        final long signalled = (long) COUNT.getAcquire(counts, allSignalled ? SENDS_POSTED : SIGNALLED);
        final long sends = Math.min(polled(counts, SENDS_POLLED), signalled);
        final long receives = Math.min(polled(counts, RECEIVES_POLLED), (long) COUNT.getAcquire(counts, RECEIVES_POSTED));
        final long sendsRetired = allSignalled || sends == 0 ? sends : sendsUntil.getOpaque((int) (sends - 1) & mask);
        return sendsRetired + receives + polled(counts, ERRORS_POLLED);
    }

    private static VarHandle kindsHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(CompletionBudget.class, "kinds", int.class);
        } catch (final ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private void add(final int index, final int number) {
        if (number != 0) {
            COUNT.setRelease(counts, index, counts[index] + number);
        }
    }
}
