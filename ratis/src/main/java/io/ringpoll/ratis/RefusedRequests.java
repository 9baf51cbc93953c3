package io.ringpoll.ratis;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.SlidingWindowEntry;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.exceptions.LeaderNotReadyException;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.protocol.exceptions.RaftException;

/**
 * Keeps a client's ordered requests in order when the engine refuses one of them: a server that has just become the leader may
 * refuse a request, and accept those that the client had sent after it. The client sends the refused request again, and it would
 * come after the others. So the requests that follow a refused one are refused in the same way, until the client sends again what
 * was refused: numbers grow until then, because a connection preserves the order.
 *
 * <p>One instance per connection. Called by one thread at a time, in the order of the requests.
 */
final class RefusedRequests {
    private final Map<ClientId, Refusal> refusals = new HashMap<>();

    /** How the engine has refused a client's request, and the number of the last request that was refused. */
    private record Refusal(IOException thrown, RaftException replied, long last) {
        private CompletableFuture<RaftClientReply> repeat(final RaftClientRequest request) throws IOException {
            if (thrown != null) {
                throw thrown;
            }
            return CompletableFuture.completedFuture(
                RaftClientReply.newBuilder().setRequest(request).setException(replied).build());
        }
    }

    /**
     * Passes a request to the engine, or refuses it.
     *
     * @param request of a client
     * @param window  its number; null if it is not ordered
     * @param engine  passes it on
     * @return the reply
     * @throws Exception if the engine throws
     */
    CompletableFuture<RaftClientReply> submit(final RaftClientRequest request, final SlidingWindowEntry window,
        final Callable<CompletableFuture<RaftClientReply>> engine) throws Exception {
        if (window == null) {
            return engine.call();
        }
        final ClientId client = request.getClientId();
        final long number = window.getSeqNum();
        final Refusal earlier = refusals.remove(client);
        if (earlier != null && !window.getIsFirst() && number > earlier.last) {
            refusals.put(client, new Refusal(earlier.thrown, earlier.replied, number));
            return earlier.repeat(request);
        }
        try {
            final CompletableFuture<RaftClientReply> reply = engine.call();
            final RaftException reason = refusal(reply);
            if (reason != null) {
                refusals.put(client, new Refusal(null, reason, number));
            }
            return reply;
        } catch (final IOException e) {
            refusals.put(client, new Refusal(e, null, number));
            throw e;
        }
    }

    /** The reason for which the engine has refused at once, before it appended anything, and the client sends again; or null. */
    private static RaftException refusal(final CompletableFuture<RaftClientReply> reply) {
        if (!reply.isDone() || reply.isCompletedExceptionally()) {
            return null;
        }
        final RaftException reason = reply.join().getException();
        return reason instanceof NotLeaderException || reason instanceof LeaderNotReadyException ? reason : null;
    }
}
