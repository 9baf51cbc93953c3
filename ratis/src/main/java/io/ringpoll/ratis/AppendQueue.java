package io.ringpoll.ratis;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.protocol.exceptions.RaftException;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/**
 * Passes the append requests of a group to the engine in the order of their arrival over all connections: a leader sends the next
 * one before it has the reply to the last. A request waits while an earlier one without reply contains one of its entries:
 * <pre>
 *   passed, without reply:  | 5..6 | 7..9 |
 *   waiting:                | 5..9 |             the leader has repeated its requests after a time-out
 * </pre>
 *
 * <p>The engine must not process both at a time. It identifies a pending request by the index of its first entry. A second
 * request with the same first index is confirmed as soon as the first is stored, although entries that only the second contains,
 * or contains in a later term, are not stored: they would be lost.
 *
 * <p>The requests of two leaders are not passed concurrently either, so those of a new leader wait for a call of the former
 * leader. The engine recognizes a leader under a lock and appends after it has released the lock: the former leader's entries
 * could replace confirmed ones of the new leader. Two appends at a time make followers of Ratis 3.1 refuse all entries until they
 * are started again.
 *
 * <p>A request that waits is dropped when its leader repeats it. The requests of a removed group fail here: the engine does not
 * reply to those that were pending. Thread-safe.
 */
final class AppendQueue {
    private static final String REMOVED = "the group has been removed";

    private final SerialExecutor inOrder;
    private final Supplier<?> group;
    /** The group of the latest request. */
    private Reference<?> latestGroup = new WeakReference<>(null);
    private final ArrayDeque<Request> waiting = new ArrayDeque<>();
    /** Passed requests without reply; the engine has few at a time. */
    private final List<Request> passed = new ArrayList<>();
    private boolean closed;

    /** An append request with entries. */
    static final class Request {
        private final ByteString leader;
        private final long firstIndex;
        private final long lastIndex;
        private final Runnable pass;
        private final Runnable taken;
        private final CompletableFuture<?> result;

        /**
         * Creates a request.
         *
         * @param request with at least one entry; not retained
         * @param pass    passes it to the engine
         * @param taken   is called instead of {@code pass} if the request is dropped
         * @param result  completed by the reply, or exceptionally if there is none
         */
        Request(final AppendEntriesRequestProto request, final Runnable pass, final Runnable taken,
            final CompletableFuture<?> result) {
            leader = request.getServerRequest().getRequestorId();
            firstIndex = request.getEntries(0).getIndex();
            lastIndex = request.getEntries(request.getEntriesCount() - 1).getIndex();
            this.pass = pass;
            this.taken = taken;
            this.result = result;
        }

        private void drop(final String reason) {
            taken.run();
            result.completeExceptionally(new RaftException(reason));
        }

        private boolean overlaps(final Request other) {
            return firstIndex <= other.lastIndex && other.firstIndex <= lastIndex;
        }

        /** A leader sends earlier entries again only to repeat a request. */
        private boolean repeats(final Request earlier) {
            return firstIndex <= earlier.firstIndex && leader.equals(earlier.leader);
        }
    }

    /**
     * Creates a queue.
     *
     * @param executor whose threads pass the requests
     * @param group    returns the engine's object of the group: another one after the group has been removed and added again,
     *                 and the requests that were pending at the former one get no reply
     */
    AppendQueue(final Executor executor, final Supplier<?> group) {
        inOrder = new SerialExecutor(executor);
        this.group = group;
    }

    /**
     * Adds a request.
     *
     * @param request for which {@link #end} is called after its reply
     * @throws RejectedExecutionException if the server is closing, or the queue is closed
     */
    void add(final Request request) {
        addBehindOthers(request).forEach(repeated -> repeated.drop("the leader has repeated the request"));
        try {
            inOrder.execute(this::passNext);
        } catch (final RejectedExecutionException e) {
            remove(request);
            throw e;
        }
    }

    private synchronized void remove(final Request rejected) {
        waiting.remove(rejected);
    }

    /** Returns the requests that it repeats, which do not wait any more. */
    private synchronized List<Request> addBehindOthers(final Request request) {
        if (closed) {
            throw new RejectedExecutionException(REMOVED);
        }
        final List<Request> repeated = waiting.isEmpty() ? List.of() : waiting.stream().filter(request::repeats).toList();
        waiting.removeAll(repeated);
        waiting.addLast(request);
        return repeated;
    }

    private void passNext() {
        final Request next = next();
        if (next != null) {
            next.pass.run();
        }
    }

    private void passAll() {
        for (Request next = next(); next != null; next = next()) {
            next.pass.run();
        }
    }

    private Request next() {
        fail(forgottenFor(group.get()));
        return behindPassed();
    }

    /** Returns the requests that were passed to another object of the group, and forgets them. */
    private synchronized List<Request> forgottenFor(final Object currentGroup) {
        if (currentGroup != null && currentGroup == latestGroup.get()) {
            return List.of();
        }
        latestGroup = new WeakReference<>(currentGroup);
        final List<Request> forgotten = List.copyOf(passed);
        passed.clear();
        return forgotten;
    }

    private synchronized Request behindPassed() {
        final Request head = waiting.peekFirst();
        if (head == null || passed.stream().anyMatch(head::overlaps)) {
            return null;
        }
        passed.add(waiting.removeFirst());
        return head;
    }

    private static void fail(final List<Request> lost) {
        lost.forEach(request -> request.result.completeExceptionally(new RaftException(REMOVED)));
    }

    /** The engine's object of the group for the latest request; null if there is none. */
    synchronized Object latestGroup() {
        return latestGroup.get();
    }

    /**
     * Closes the queue of a removed group: all its requests fail.
     *
     * @param removed what {@link #latestGroup} has returned before the group was found to be missing
     * @return false if a request has been passed to another object since then: the group has been added again
     */
    boolean close(final Object removed) {
        final List<Request> lost;
        final List<Request> dropped;
        synchronized (this) {
            if (latestGroup.get() != removed) {
                return false;
            }
            closed = true;
            lost = List.copyOf(passed);
            dropped = List.copyOf(waiting);
            passed.clear();
            waiting.clear();
        }
        fail(lost);
        dropped.forEach(request -> request.drop(REMOVED));
        return true;
    }

    /** Ends a request: those that wait for it are passed on the threads of the executor. */
    void end(final Request request) {
        synchronized (this) {
            passed.remove(request);
            if (waiting.isEmpty()) {
                return;
            }
        }
        try {
            inOrder.execute(this::passAll);
        } catch (final RejectedExecutionException e) {
            // The server is closing.
            return;
        }
    }
}
