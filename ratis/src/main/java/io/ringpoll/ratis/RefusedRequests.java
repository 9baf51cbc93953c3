package io.ringpoll.ratis;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.exceptions.LeaderNotReadyException;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.protocol.exceptions.RaftException;

/**
 * Keeps a client's ordered requests in order when the engine refuses one of them and would accept later ones: the server becomes
 * the leader between them, or the number of pending writes falls below the engine's limit. The client sends a refused request
 * again, so the engine would store it after the later ones.
 *
 * <p>Therefore the later requests of the same series are refused for the same reason. After a failure, the engine's client sends
 * its oldest request without a reply, marked as the first of the series, and then the others. From the first one on, the requests
 * are accepted by number, one after the other, until all refused ones have been sent again: new requests may arrive between them,
 * because the client sends these before it has received all refusals.
 *
 * <p>A series is the client's requests to the leader, or those to this server; the client numbers the two independently. A
 * connection belongs to one client, so at most one refusal of each series is kept.
 *
 * <p>One instance per connection. Requests are submitted by one thread at a time, in order; the engine's threads may complete the
 * replies.
 */
final class RefusedRequests {
    private final Series toLeader = new Series();
    private final Series toServer = new Series();

    /**
     * The state of a series after a refusal.
     *
     * @param client  of the series
     * @param failure of the engine's call or its future; null if the reply has an exception
     * @param replied the exception in the reply, or null
     * @param next    number of the request that is accepted next; 0 until the client starts again
     * @param last    number of the last refused request
     */
    private record Refusal(ClientId client, Throwable failure, RaftException replied, long next, long last) {
        private Refusal with(final long newNext, final long newLast) {
            return new Refusal(client, failure, replied, newNext, newLast);
        }

        private CompletableFuture<RaftClientReply> repeat(final RaftClientRequest request) {
            return failure != null ? CompletableFuture.failedFuture(failure) : CompletableFuture.completedFuture(
                RaftClientReply.newBuilder().setRequest(request).setException(replied).build());
        }
    }

    /** The requests of a client that are numbered together. Thread-safe. */
    private static final class Series {
        private volatile Refusal refusal;

        /** Returns null if a request is accepted, or the refusal to repeat. */
        private Refusal check(final RaftClientRequest request) {
            return refusal == null ? null : checkRefusal(request);
        }

        private synchronized Refusal checkRefusal(final RaftClientRequest request) {
            final Refusal earlier = refusal;
            if (!isOf(earlier, request)) {
                return null;
            }
            final long number = number(request);
            if (request.getSlidingWindowEntry().getIsFirst()) {
                proceed(earlier, number + 1);
                return null;
            }
            if (number <= earlier.next()) {
                proceed(earlier, Math.max(number + 1, earlier.next()));
                return null;
            }
            refusal = earlier.with(earlier.next(), Math.max(number, earlier.last()));
            return refusal;
        }

        private void proceed(final Refusal earlier, final long next) {
            refusal = next > earlier.last() ? null : earlier.with(next, earlier.last());
        }

        private synchronized void onRefusal(final RaftClientRequest request, final Throwable failure,
            final RaftException replied) {
            final Refusal earlier = refusal;
            final long number = number(request);
            if (isOf(earlier, request)) {
                refusal = new Refusal(earlier.client(), failure, replied, number < earlier.next() ? 0 : earlier.next(),
                    Math.max(number, earlier.last()));
            } else {
                refusal = new Refusal(request.getClientId(), failure, replied, 0, number);
            }
        }

        private static boolean isOf(final Refusal earlier, final RaftClientRequest request) {
            return earlier != null && earlier.client().equals(request.getClientId());
        }

        private static long number(final RaftClientRequest request) {
            return request.getSlidingWindowEntry().getSeqNum();
        }
    }

    /**
     * Passes a request to the engine, or refuses it.
     *
     * @param request of a client
     * @param engine  submits the request
     * @return the reply
     * @throws Exception if the engine throws
     */
    CompletableFuture<RaftClientReply> submit(final RaftClientRequest request,
        final Callable<CompletableFuture<RaftClientReply>> engine) throws Exception {
        if (!RequestSeries.isOrdered(request)) {
            return engine.call();
        }
        final Series series = request.isToLeader() ? toLeader : toServer;
        final Refusal earlier = series.check(request);
        if (earlier != null) {
            return earlier.repeat(request);
        }
        try {
            // Before the reply is sent: the client may react to it at once.
            return engine.call().whenComplete((reply, failure) -> onEnd(series, request, reply, failure));
        } catch (final Exception | AssertionError e) {
            onEnd(series, request, null, e);
            throw e;
        }
    }

    private static void onEnd(final Series series, final RaftClientRequest request, final RaftClientReply reply,
        final Throwable failure) {
        final RaftException replied = failure == null ? reply.getException() : null;
        // The client does not send a request again that has failed for another reason.
        if (failure != null || replied instanceof NotLeaderException || replied instanceof LeaderNotReadyException) {
            series.onRefusal(request, failure, replied);
        }
    }
}
